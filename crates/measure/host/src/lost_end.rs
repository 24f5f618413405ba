//! Databases that lost their end. Recovery would enlarge the file, and the lost pages would read as
//! empty ones.

use std::collections::BTreeSet;
use std::path::Path;

use ese::header::{DatabaseState, HeaderCopies};
use ese::page::PageSize;
use ese::reader::database_space;
use ese::space::Extent;
use plan::{Database, Plan};
use units::{Bytes, PageNumber};

use crate::HostError;
use crate::dirty::Dirty;
use crate::headers::read_header_or_pages;
use crate::observer::HostObserver;
use crate::pages::FilePages;
use crate::scan::{FileFault, truncations};
use crate::target::RawTarget;
use crate::wire;

/// The faults of a database that was not closed if its file ends earlier than a crash can leave
/// it; none if the log repeats all growth past its end. `growth` reads the lengths from the log.
pub fn lost_by_more_than_a_crash<E>(
    path: &Path,
    size: PageSize,
    growth: impl FnOnce() -> Result<Vec<Bytes>, E>,
) -> Result<Vec<FileFault>, E> {
    let faults = truncations(path, size);
    let Some(last) = faults.iter().find_map(last_page) else {
        return Ok(Vec::new());
    };
    let mut grown = BTreeSet::new();
    for length in growth()? {
        grown.extend(u32::try_from(size.pages_of_file(length.0)).map(PageNumber));
    }
    let space = FilePages::open(path, size).ok();
    let space = space.and_then(|mut pages| database_space(&mut pages).ok());
    let owned = space.as_ref().map(|space| &space.owned_extents[..]);
    Ok(if crash_leaves(last, owned, &grown) { Vec::new() } else { faults })
}

/// Refuses databases that lost their end or both copies of their header, and warns of one copy
/// that is lost, which opening the database makes anew. Those on raw devices are not examined. A
/// run does not ask: it reads through its own patience, and a freeze counts against the storage.
pub(crate) fn refuse<'p>(
    plan: &Plan,
    mut databases: impl Iterator<Item = &'p Database>,
    observer: &HostObserver,
) -> Result<(), HostError> {
    databases.try_for_each(|database| match RawTarget::of(Path::new(&database.folder)) {
        Some(_) => Ok(()),
        None => refuse_one((plan, database), observer),
    })
}

/// A missing file, or one that is no database, is left to those who open it, who say so.
fn refuse_one(
    (plan, database): (&Plan, &Database),
    observer: &HostObserver,
) -> Result<(), HostError> {
    let path = Path::new(&database.folder).join(&database.file);
    let Ok((_, copies)) = read_header_or_pages(&path) else {
        return Ok(());
    };
    let of_header = FileFault::of_header(copies.as_ref());
    let Some(copies) = copies else {
        return Err(unusable(&path, &of_header));
    };
    for fault in of_header {
        observer.warn(&format!(
            "{}: {fault}; the next run writes both anew. Find what damaged it",
            path.display()
        ));
    }
    let faults = lost((plan, database), &path, &copies);
    if faults.is_empty() { Ok(()) } else { Err(unusable(&path, &faults)) }
}

/// The lengths that the log of a database extends it to.
fn growth(plan: &Plan, database: &Database) -> Result<Vec<Bytes>, HostError> {
    let world = wire::world()?;
    let locations = wire::locations(&world, plan, std::slice::from_ref(database))?;
    let mut lengths = Vec::new();
    for location in locations {
        let read = async move { trial::run::growth(&location).await };
        lengths.extend(world.executor().block_on(read).map_err(HostError::new)?);
    }
    Ok(lengths)
}

/// The faults of a file that lost its end.
fn lost(
    (plan, database): (&Plan, &Database),
    path: &Path,
    copies: &HeaderCopies,
) -> Vec<FileFault> {
    if copies.header.state == DatabaseState::CleanShutdown {
        truncations(path, copies.page_size)
    } else if Dirty::is(&copies.header) {
        // The run's own recovery names the fault of a log.
        lost_by_more_than_a_crash(path, copies.page_size, || growth(plan, database))
            .unwrap_or_default()
    } else {
        Vec::new()
    }
}

fn unusable(path: &Path, faults: &[FileFault]) -> HostError {
    HostError::Damage(format!(
        "{}: {}; nothing was written. Prepare it anew (plimsoll prepare PLAN --reset), or restore \
         it; `plimsoll check` names the damage",
        path.display(),
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    ))
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
