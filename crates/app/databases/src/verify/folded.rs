//! Merges findings that a truncated or torn file causes once per page into ranges with a count.

use std::collections::BTreeMap;

use ese::long_value::LongValueId;
use ese::reader::{PageLoss, ReadError};
use ese::verify::{Problem, VerifyFinding};
use units::PageNumber;

/// A page with the same finding as its neighbours.
struct Alike<'f> {
    subject: String,
    what: &'static str,
    page: PageNumber,
    finding: &'f VerifyFinding,
}

impl Alike<'_> {
    fn precedes(&self, other: &Self) -> bool {
        let next = self.page.0.wrapping_add(1);
        (&self.subject, self.what, next) == (&other.subject, other.what, other.page.0)
    }
}

/// Describes the findings, damaged pages first, since most others follow from them. Pages that are
/// lost, past the end of the file or outside the space of their tree are named as ranges, and
/// missing long values are counted, tree by tree.
pub(super) fn folded(findings: &[&VerifyFinding]) -> Vec<String> {
    let (damage, others): (Vec<_>, Vec<_>) =
        findings.iter().copied().partition(|of| is_damage(&of.problem));
    let (values, others): (Vec<&VerifyFinding>, Vec<&VerifyFinding>) =
        others.into_iter().partition(|of| missing_value(of).is_some());
    let mut lines = in_ranges(&damage);
    lines.extend(in_ranges(&others));
    lines.extend(missing_values(&values));
    lines
}

/// Whether the page itself is damaged.
const fn is_damage(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::Page(_) | Problem::Unreadable(ReadError::Lost { loss: PageLoss::Damaged, .. })
    )
}

const fn missing_value(finding: &VerifyFinding) -> Option<LongValueId> {
    match finding.problem {
        Problem::LongValueMissing { id } => Some(id),
        _ => None,
    }
}

/// A line for each tree with missing long values.
fn missing_values(findings: &[&VerifyFinding]) -> Vec<String> {
    let mut by_tree: BTreeMap<String, Vec<LongValueId>> = BTreeMap::new();
    for finding in findings {
        let ids = by_tree.entry(finding.subject.to_string()).or_default();
        ids.extend(missing_value(finding));
    }
    by_tree.into_iter().map(missing_of_tree).collect()
}

fn missing_of_tree((subject, mut ids): (String, Vec<LongValueId>)) -> String {
    ids.sort_unstable();
    match ids.as_slice() {
        [first, .., last] => {
            format!("{subject}: {} long values from {first} to {last} are missing", ids.len())
        }
        [alone] => format!("{subject}: long value {alone} is missing"),
        [] => subject,
    }
}

fn in_ranges(findings: &[&VerifyFinding]) -> Vec<String> {
    let (mut lines, mut alike) = (Vec::new(), Vec::new());
    for &finding in findings {
        match common(&finding.problem).filter(|_| finding.pages <= 1 && finding.key.is_empty()) {
            None => lines.push(finding.to_string()),
            Some(what) => {
                let (subject, page) = (finding.subject.to_string(), finding.page);
                alike.push(Alike { subject, what, page, finding });
            }
        }
    }
    alike.sort_by(|one, other| {
        (&one.subject, one.what, one.page).cmp(&(&other.subject, other.what, other.page))
    });
    lines.extend(alike.chunk_by(Alike::precedes).map(range));
    lines
}

/// The finding on a page, if it is of a kind that is folded into ranges.
const fn common(problem: &Problem) -> Option<&'static str> {
    match problem {
        Problem::Unreadable(ReadError::BeyondFile { .. }) => Some("are past the end of the file"),
        Problem::Unreadable(ReadError::Lost { loss: PageLoss::Damaged, .. }) => {
            Some("cannot be read: damaged")
        }
        Problem::OutsideSpace => Some("are not among those that the tree owns"),
        _ => None,
    }
}

fn range(run: &[Alike<'_>]) -> String {
    match run {
        [first, .., last] => format!(
            "{}, pages {}-{}: {} ({} pages)",
            first.subject,
            first.page,
            last.page,
            first.what,
            run.len()
        ),
        _ => run.iter().map(|alone| alone.finding.to_string()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use ese::long_value::LongValueId;
    use ese::page_check::PageFault;
    use ese::reader::{PageLoss, ReadError};
    use ese::verify::{Problem, Subject, VerifyFinding};
    use units::PageNumber;

    use super::folded;

    fn finding(page: u32, problem: Problem) -> VerifyFinding {
        let (subject, page) = (Subject::default(), PageNumber(page));
        VerifyFinding { subject, page, pages: 1, key: Vec::new(), problem }
    }

    #[test]
    fn pages_of_a_cut_tree_are_a_range_with_a_count() {
        let mut all = Vec::new();
        for page in [9, 7, 8, 20] {
            all.push(finding(page, Problem::OutsideSpace));
            let error = ReadError::BeyondFile { page: PageNumber(page) };
            all.push(finding(page, Problem::Unreadable(error)));
        }
        all.push(finding(3, Problem::EmptyLeaf));
        let lines = folded(&all.iter().collect::<Vec<_>>());
        let subject = Subject::default();
        let expected = [
            format!("{subject}, pages 7-9: are not among those that the tree owns (3 pages)"),
            format!("{subject}, pages 7-9: are past the end of the file (3 pages)"),
        ];
        for line in &expected {
            assert!(lines.contains(line), "{line} is not in {lines:?}");
        }
        assert_eq!(lines.len(), 5, "{lines:?}");
    }

    /// A damaged page is named before what follows from it, which is one line.
    #[test]
    fn a_damaged_page_comes_before_the_long_values_that_it_held() {
        let missing = |id| finding(0, Problem::LongValueMissing { id: LongValueId(id) });
        let mut all: Vec<VerifyFinding> = (0x1000f..0x10028).rev().map(missing).collect();
        all.push(finding(3, Problem::EmptyLeaf));
        let (page, loss) = (PageNumber(4_607), PageLoss::Damaged);
        all.push(finding(4_607, Problem::Unreadable(ReadError::Lost { page, loss })));
        let fault = PageFault::OwnNumber { stated: PageNumber(9) };
        all.push(finding(4_608, Problem::Page(fault)));
        let lines = folded(&all.iter().collect::<Vec<_>>());
        for page in ["page 4607", "page 4608"] {
            assert!(lines[..2].iter().any(|line| line.contains(page)), "{lines:?}");
        }
        let subject = Subject::default();
        let missing = format!("{subject}: 25 long values from 0x1000f to 0x10027 are missing");
        assert_eq!((lines.len(), lines.last()), (4, Some(&missing)), "{lines:?}");
    }
}
