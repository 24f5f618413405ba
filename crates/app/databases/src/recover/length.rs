//! Refuses a database that lost its end. Recovery would enlarge the file, and the lost pages would
//! read as empty ones.

use std::collections::BTreeSet;
use std::path::Path;

use device_os::World;
use engine::recovery::growth;
use engine::{DatabaseFiles, OpenError};
use ese::page::PageSize;
use ese::reader::database_space;
use ese::space::Extent;
use host::pages::FilePages;
use host::scan::{FileFault, truncations};
use units::PageNumber;

use crate::check::fault_text;
use console::error::CommandError;

/// Refuses a closed database whose file ends too early.
pub(super) fn require_whole(path: &Path, size: PageSize) -> Result<(), CommandError> {
    refuse(path, &truncations(path, size))
}

/// Refuses a database that was not closed if its file ends earlier than a crash can leave it.
pub(super) fn require_recoverable(
    world: &World,
    path: &Path,
    size: PageSize,
    files: &DatabaseFiles,
) -> Result<(), CommandError> {
    let faults = truncations(path, size);
    let Some(last) = faults.iter().find_map(last_page) else {
        return Ok(());
    };
    let files = files.clone();
    let lengths = world.executor().block_on(async move { growth(&files).await });
    let lengths = lengths.map_err(|error| super::not_open(&OpenError::Recovery(error)))?;
    let mut grown = BTreeSet::new();
    for length in lengths {
        grown.extend(u32::try_from(size.pages_of_file(length.0)).map(PageNumber));
    }
    let space = FilePages::open(path, size).ok();
    let space = space.and_then(|mut pages| database_space(&mut pages).ok());
    let owned = space.as_ref().map(|space| &space.owned_extents[..]);
    if crash_leaves(last, owned, &grown) { Ok(()) } else { refuse(path, &faults) }
}

/// The last page of a file that ends before its database.
const fn last_page(fault: &FileFault) -> Option<PageNumber> {
    match fault {
        FileFault::Truncated { last, .. } => Some(*last),
        _ => None,
    }
}

/// Whether a crash can leave a file that ends with page `last`: the log must repeat all growth past
/// it. `grown` has the last page after each growth in the log. Without the extents that the
/// database owns, the page that lists them must be in that growth.
fn crash_leaves(last: PageNumber, owned: Option<&[Extent]>, grown: &BTreeSet<PageNumber>) -> bool {
    match owned {
        Some(owned) => owned.iter().all(|own| own.last <= last || grown.contains(&own.last)),
        None => grown.iter().any(|end| *end > last),
    }
}

fn refuse(path: &Path, faults: &[FileFault]) -> Result<(), CommandError> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(CommandError::Damage(fault_text(path, faults, "nothing was written")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ese::space::Extent;
    use units::PageNumber;

    use super::crash_leaves;

    #[test]
    fn a_crash_undoes_only_the_growth_that_the_log_repeats() {
        let owned = [512, 768, 1_024].map(|last| Extent { last: PageNumber(last), pages: 256 });
        let leaves = |last, grown: &[u32]| {
            let grown: BTreeSet<_> = grown.iter().copied().map(PageNumber).collect();
            crash_leaves(PageNumber(last), Some(&owned), &grown)
        };
        assert!(leaves(1_024, &[]), "nothing is missing");
        assert!(leaves(768, &[1_024]) && leaves(512, &[768, 1_024]));
        assert!(!leaves(1_023, &[]), "the log does not enlarge it");
        assert!(!leaves(700, &[1_024]), "pages before the growth are gone");
        let lost = |grown: &[u32]| {
            let grown: BTreeSet<_> = grown.iter().copied().map(PageNumber).collect();
            !crash_leaves(PageNumber(1), None, &grown)
        };
        assert!(lost(&[]) && !lost(&[512]));
    }
}
