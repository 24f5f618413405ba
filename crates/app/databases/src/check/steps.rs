//! Next steps after damage, that of the worst damage first.

use std::path::Path;

use ese::catalog::system_trees;
use host::ranges::{Cause, PagePlace, Range};
use host::scan::FileFault;

use console::shell::shell_word;

use super::flipped::{self, folder, is_flipped, named};

/// What to do about the file at `path` with these faults and damaged pages, in the order to do it.
pub(crate) fn next_steps(path: &Path, faults: &[FileFault], ranges: &[Range]) -> Vec<String> {
    steps((path, faults, ranges), &saved(path, faults))
}

/// The same for an export of all tables, which need not be advised to export.
pub(crate) fn steps_beside_export(path: &Path, faults: &[FileFault]) -> Vec<String> {
    steps((path, faults, &[]), "This export saves the rows that can be read.")
}

fn steps(damaged: (&Path, &[FileFault], &[Range]), saved: &str) -> Vec<String> {
    let (path, faults, ranges) = damaged;
    let worst = worst_step_and(damaged, saved);
    let flipped = flipped::next_step(path, ranges, worst.is_some());
    let steps: Vec<String> = worst.into_iter().chain(flipped).collect();
    if steps.is_empty() { lesser_step(path, faults).into_iter().collect() } else { steps }
}

/// The faults of the file at `path` and what to do about them, as one text.
pub(crate) fn fault_text(path: &Path, faults: &[FileFault], consequence: &str) -> String {
    let named: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let steps = next_steps(path, faults, &[]).join(" ");
    format!("{}: {}; {consequence}. {steps}", path.display(), named.join("; "))
}

/// The step after damage that costs no data; `None` if there is none.
fn lesser_step(path: &Path, faults: &[FileFault]) -> Option<String> {
    let kept = faults.iter().find_map(|fault| match fault {
        FileFault::HeaderCopy { .. } => {
            Some("the good copy of the header serves, and what opens the file next writes both")
        }
        FileFault::FlushMap(_) => Some("a flush map only shows lost writes"),
        _ => None,
    })?;
    Some(format!("Next: this damage costs no data: {kept}. {}", find_cause(path)))
}

fn find_cause(path: &Path) -> String {
    let folder = shell_word(folder(path));
    format!(
        "Then find what damaged it: see the disk's errors (smartctl, the system log) and its \
         volume: plimsoll inspect {folder}"
    )
}

/// What `export` can save of the file; nothing if it ends before the catalog, which names the
/// tables.
fn saved(path: &Path, faults: &[FileFault]) -> String {
    let mut ends = faults.iter().filter_map(|fault| match fault {
        FileFault::Truncated { last, .. } => Some(*last),
        _ => None,
    });
    if ends.any(|last| last < system_trees::OBJECTS.root) {
        return "The file ends before its first table: no row can be saved.".to_owned();
    }
    format!("plimsoll export {} --all -o DIR saves the rows that can be read.", shell_word(path))
}

/// The step after lost pages, or after damage that no read corrects; `None` if there is neither.
pub(crate) fn worst_step(path: &Path, faults: &[FileFault], ranges: &[Range]) -> Option<String> {
    worst_step_and((path, faults, ranges), &saved(path, faults))
}

fn worst_step_and(
    (path, faults, ranges): (&Path, &[FileFault], &[Range]),
    saved: &str,
) -> Option<String> {
    let is_cut = faults.iter().any(FileFault::is_cut);
    let has_no_header = faults.contains(&FileFault::HeaderLost);
    let lost: Vec<&Range> = ranges.iter().filter(|range| is_lost(range)).collect();
    let pages: u64 = lost.iter().map(|range| range.pages()).sum();
    let loss = match (is_cut, pages) {
        (true, _) => "pages are missing, and recovery cannot bring them back".to_owned(),
        (false, 0) if has_no_header => "the header is lost in this copy".to_owned(),
        (false, 0) => return None,
        (false, 1) => format!("page {} is lost in this copy", named(&lost)),
        (false, _) => format!("pages {} are lost in this copy", named(&lost)),
    };
    let cause = find_cause(path);
    Some(format!("Next: {loss}: restore or reseed this copy. {saved} {cause}"))
}

/// Whether data is lost that neither a read nor the log of a crash brings back.
fn is_lost(range: &Range) -> bool {
    range.cause == Cause::Damage && range.place != PagePlace::Unused && !is_flipped(range)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ese::header::CopyState;
    use ese::page_state::PageDamage;
    use host::ranges::{Cause, PagePlace, Range};
    use host::scan::FileFault;
    use integrity::{Damage, DamagedPage};
    use units::PageNumber;

    use super::{next_steps, steps_beside_export};

    fn range(page: u32, place: PagePlace, damage: PageDamage) -> Range {
        let page = PageNumber(page);
        let finding = DamagedPage { page, damage: Damage::Page(damage) };
        Range { first: page, last: page, place, cause: Cause::Damage, finding }
    }

    fn flipped(page: u32) -> Range {
        range(page, PagePlace::Unknown, PageDamage::FlippedBit { bits: vec![9] })
    }

    #[test]
    fn the_worst_damage_has_the_first_step() {
        let path = Path::new("a.edb");
        let torn = range(299, PagePlace::Unknown, PageDamage::Torn);
        let steps = next_steps(path, &[], &[torn, flipped(699)]);
        let [worst, then] = &steps[..] else { panic!("{steps:?}") };
        assert!(worst.starts_with("Next: page 299 is lost in this copy: restore or"), "{worst}");
        for words in ["plimsoll export a.edb --all -o DIR", "plimsoll inspect ."] {
            assert!(worst.contains(words), "{words}: {worst}");
        }
        assert!(then.starts_with("Then: page 699: the data is intact"), "{then}");
        assert!(!then.contains("estore or reseed"), "said once: {then}");
        let alone = next_steps(path, &[], &[flipped(699)]);
        assert!(alone.len() == 1 && alone[0].starts_with("Next: page 699"), "{alone:?}");
    }

    #[test]
    fn missing_pages_have_a_step_and_damage_in_unused_space_has_none() {
        let path = Path::new("a.edb");
        let last = PageNumber(100);
        let cut = FileFault::Truncated { last, owned: Some(PageNumber(700)) };
        let steps = next_steps(path, &[cut], &[]);
        let missing = "Next: pages are missing, and recovery cannot bring them back: restore";
        assert!(steps.len() == 1 && steps[0].starts_with(missing), "{steps:?}");
        let unused = range(7, PagePlace::Unused, PageDamage::Torn);
        let mut crash = range(8, PagePlace::Unknown, PageDamage::Torn);
        crash.cause = Cause::Crash;
        let steps = next_steps(path, &[FileFault::HeaderLost], &[]);
        assert!(steps.len() == 1 && steps[0].contains("header is lost in this copy: restore or"));
        let exporting = steps_beside_export(path, &[FileFault::HeaderLost]).concat();
        let saves = "This export saves the rows that can be read.";
        assert!(exporting.contains(saves) && !exporting.contains("--all"), "{exporting}");
        let early = FileFault::Truncated { last: PageNumber(1), owned: None };
        let steps = next_steps(path, &[early], &[]).concat();
        assert!(steps.contains("no row can be saved") && !steps.contains("export"), "{steps}");
        let fault = FileFault::EndUnknown { last };
        assert!(next_steps(path, &[fault], &[unused, crash]).is_empty());
    }

    #[test]
    fn a_damaged_copy_of_the_header_costs_no_data_but_has_a_cause() {
        let path = Path::new("a.edb");
        let copy = FileFault::HeaderCopy { first: true, state: CopyState::Bad };
        let steps = next_steps(path, std::slice::from_ref(&copy), &[]);
        let kept = "Next: this damage costs no data: the good copy of the header serves, and what \
                    opens the file next writes both. Then find";
        assert!(steps.len() == 1 && steps[0].starts_with(kept), "{steps:?}");
        let lost = range(299, PagePlace::Unknown, PageDamage::Torn);
        let steps = next_steps(path, &[copy], &[lost]);
        assert!(steps.len() == 1 && !steps[0].contains("costs no data"), "{steps:?}");
    }
}
