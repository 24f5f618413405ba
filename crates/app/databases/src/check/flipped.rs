//! Next step after pages with flipped bits that can be corrected: their data is intact, and what
//! flipped the bits is still there.

use std::path::Path;

use ese::page_state::PageDamage;
use host::ranges::Range;
use integrity::Damage;

use console::shell::shell_word;

/// Maximum ranges of pages named in the step; each has its own line above.
const MOST_NAMED: usize = 8;

/// What to do about the pages of `ranges` with flipped bits, in the file at `path`; `None`
/// if there are none. After the step of worse damage, which says how to save the data, only the
/// cause is left to find.
pub(super) fn next_step(path: &Path, ranges: &[Range], is_second: bool) -> Option<String> {
    let flipped: Vec<&Range> = ranges.iter().filter(|range| is_flipped(range)).collect();
    if flipped.is_empty() {
        return None;
    }
    let is_corrected = flipped.iter().all(|range| is_corrected(range));
    let reads = if is_corrected { ", and every read corrects it" } else { "" };
    let intact = format!("{}: the data is intact{reads}", counted(&flipped));
    if is_second {
        return Some(format!("Then: {intact}; run a memory test: what flips bits is still there"));
    }
    Some(format!(
        "Next: {intact}; another flipped bit may lose it. Restore or reseed this copy, or save \
         its rows now: plimsoll export {} --all -o DIR. Then find what flips bits: run a memory \
         test, and see the disk's errors (smartctl, the system log) and its volume: plimsoll \
         inspect {}",
        shell_word(path),
        shell_word(folder(path)),
    ))
}

fn counted(ranges: &[&Range]) -> String {
    let count: u64 = ranges.iter().map(|range| range.pages()).sum();
    let word = if count == 1 { "page" } else { "pages" };
    format!("{word} {}", named(ranges))
}

/// Whether the storage changed one bit of the page: readers correct it and see nothing wrong, and
/// an unused page has no readers. Other bytes in unused pages are an engine's leftovers.
pub(crate) fn is_flipped(range: &Range) -> bool {
    matches!(&range.finding.damage, Damage::Page(damage) if damage.is_flip())
}

/// Whether readers correct the flipped bit; one in a checksum or in a page of zeros is not
/// corrected.
fn is_corrected(range: &Range) -> bool {
    matches!(&range.finding.damage, Damage::Page(PageDamage::FlippedBit { .. }))
}

fn pages(range: &Range) -> String {
    match (range.first, range.last) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    }
}

/// The pages by number; of many ranges only the first.
pub(super) fn named(ranges: &[&Range]) -> String {
    let names: Vec<String> = ranges.iter().take(MOST_NAMED).map(|of| pages(of)).collect();
    let more = ranges.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 {
        format!(" and {}", units::plural(more as u64, "more place"))
    } else {
        String::new()
    };
    names.join(", ") + &more
}

/// The folder of the file at `path`.
pub(super) fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ese::page_state::PageDamage;
    use host::ranges::{Cause, PagePlace, Range};
    use integrity::{Damage, DamagedPage};
    use units::PageNumber;

    use super::next_step;

    fn range(first: u32, last: u32, damage: PageDamage) -> Range {
        let finding = DamagedPage { page: PageNumber(first), damage: Damage::Page(damage) };
        let (first, last) = (PageNumber(first), PageNumber(last));
        Range { first, last, place: PagePlace::Unused, cause: Cause::Damage, finding }
    }

    fn flipped(page: u32) -> Range {
        range(page, page, PageDamage::FlippedBit { bits: vec![9] })
    }

    #[test]
    fn only_flipped_bits_have_the_step_and_it_names_their_pages() {
        let path = Path::new("/mnt/my mail/a.edb");
        let torn = range(7, 9, PageDamage::Torn);
        assert_eq!(next_step(path, &[], false), None);
        assert_eq!(next_step(path, std::slice::from_ref(&torn), false), None);
        let one = next_step(path, &[torn.clone(), flipped(40)], false).unwrap();
        let intact = "Next: page 40: the data is intact, and every read corrects it; another";
        assert!(one.starts_with(intact), "{one}");
        let quoted = console::shell::shell_word(path);
        assert!(one.contains(&format!("plimsoll export {quoted} --all -o DIR")), "{one}");
        let folder = console::shell::shell_word(Path::new("/mnt/my mail"));
        assert!(one.ends_with(&format!("plimsoll inspect {folder}")), "{one}");
        let two = next_step(Path::new("a.edb"), &[flipped(40), torn, flipped(57)], false).unwrap();
        assert!(two.starts_with("Next: pages 40, 57: the data is intact"), "{two}");
        assert!(two.ends_with("plimsoll inspect ."), "{two}");
        let zeros = range(3, 3, PageDamage::FlippedZero { bit: 9 });
        let zeros = next_step(path, &[zeros], false).unwrap();
        assert!(zeros.starts_with("Next: page 3: the data is intact; another"), "{zeros}");
    }

    #[test]
    fn many_pages_are_counted_and_not_all_named() {
        let all: Vec<Range> = (1..=20).map(|number| flipped(number * 10)).collect();
        let step = next_step(Path::new("a.edb"), &all, false).unwrap();
        assert!(step.contains("70, 80 and 12 more places: the data"), "{step}");
    }
}
