//! The section for a flash cache.

use units::Bytes;

use super::entry::{Entry, List, One};
use super::example::{Explained, ExplainedKey, Shown};
use super::{Complaint, Keys, TomlPlace, TomlSection};

section! {
    /// A cache on flash.
    LowFlashCache "[cache]" Comment "" column 29
    above [
        "A cache on flash between the engine and its volumes; without this section there is \
         none:"
    ] at place
    {
        file: One<String> => Comment "\"/mnt/flash/plimsoll.cache\"" [
            "made by the first run, used again by later ones; not on the databases' disks"
        ],
        size: One<Bytes> => Comment "\"100GiB\"" ["of that file"],
        folders: List<String> => Comment "[\"/mnt/disk1\"]" [
            "whose files are cached; default: those of the databases, not of logs"
        ],
        mode: One<String> => Comment "\"write-through\"" [
            "a write is acknowledged once the volume has it"
        ],
        write_limit: One<Bytes> => Comment "\"100MiB\"" [
            "written to flash per second at most, so that it lasts; default: no limit"
        ],
    }
}
