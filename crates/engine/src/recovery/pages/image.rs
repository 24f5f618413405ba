//! One page as redo sees it.

use device::Buffer;
use ese::checksum::{self, PageVerdict};
use ese::page::PageRef;
use ese::page_check;
use units::PageNumber;

/// A page in memory.
pub(in crate::recovery) struct Page {
    pub image: Buffer,
    /// What is wrong with it, until the log makes it anew.
    pub damage: Option<String>,
    /// The file does not hold it as it is.
    pub dirty: bool,
}

impl Page {
    /// Database time of the last change; that of a damaged page means nothing.
    pub fn dbtime(&self) -> u64 {
        PageRef::new(&self.image).dbtime()
    }

    /// Whether it may be written: it was changed, and is no ruin.
    pub const fn is_due(&self) -> bool {
        self.dirty && self.damage.is_none()
    }
}

/// A page that was read, and what is wrong with it. A flipped bit is put right, in the file too.
pub(super) fn judged(mut image: Buffer, number: PageNumber) -> Page {
    let verdict = checksum::verify(&image, number);
    let correctable = matches!(verdict, PageVerdict::Correctable { .. });
    let repaired = correctable && checksum::repair(&mut image, number).is_some();
    let damage = match verdict {
        PageVerdict::Uninitialised => None,
        PageVerdict::Correctable { .. } if repaired => None,
        PageVerdict::Good => page_check::check(PageRef::new(&image), number)
            .err()
            .map(|fault| fault.to_string()),
        PageVerdict::WrongPage { really } => Some(format!("holds page {really}")),
        PageVerdict::Correctable { .. }
        | PageVerdict::FlippedChecksum { .. }
        | PageVerdict::Bad { .. } => Some("its checksum is wrong".to_owned()),
    };
    Page {
        image,
        damage,
        dirty: repaired,
    }
}
