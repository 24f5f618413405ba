//! How long users are without a database in the cases of a claim. A pure function of their
//! timelines, so that a case that is not the worst for the disks counts as well.

use blueprint::{Outage, OutageEnd};
use rehearsal::{Duty, Occurrence, Stretch, longest_interruption};
use units::Nanos;

/// The longest interruption in any of these cases after which all databases are active again;
/// `None` if there is none. Databases that stay inactive fail a claim anyway.
pub(super) fn longest_outage(
    cases: &[Vec<Occurrence>],
    outlines: &[Vec<Stretch>],
    allowed: Option<Nanos>,
) -> Option<Outage> {
    let found = cases.iter().zip(outlines).filter_map(|(case, outline)| {
        let (longest, databases) = interruption(outline)?;
        let what: Vec<&str> = case.iter().map(|of| of.text.as_str()).collect();
        Some(Outage {
            databases,
            longest_ns: longest.0,
            allowed_ns: allowed.map(|of| of.0),
            case: format!("if {} fails", what.join(" and ")),
            ended_by: end(outline),
        })
    });
    found.max_by_key(|of| (of.longest_ns, of.databases))
}

/// The longest time that a database had no active copy, and the largest number of databases without
/// one at the same time; `None` if there was no such time, or some still have none at the end.
fn interruption(outline: &[Stretch]) -> Option<(Nanos, usize)> {
    let last = outline.last()?;
    let databases = outline.iter().map(Stretch::inactive).max().filter(|count| *count > 0)?;
    if last.inactive() > 0 {
        return None;
    }
    Some((longest_interruption(outline), databases))
}

fn end(outline: &[Stretch]) -> OutageEnd {
    let replays = outline
        .iter()
        .flat_map(|stretch| &stretch.duties)
        .any(|duties| !duties.contains(&Duty::Active) && duties.contains(&Duty::CatchingUp));
    if replays { OutageEnd::Replay } else { OutageEnd::Activation }
}

#[cfg(test)]
mod tests {
    use blueprint::OutageEnd;
    use rehearsal::{Duty, Happening, Occurrence, Stretch};
    use units::Nanos;

    use super::longest_outage;

    fn stretch((from, to): (u64, u64), duties: [Duty; 2]) -> Stretch {
        Stretch {
            from: Nanos::from_secs(from),
            to: Nanos::from_secs(to),
            begun: Vec::new(),
            up: vec![true; 2],
            duties: duties.map(|duty| vec![duty]).to_vec(),
            failed_drives: Vec::new(),
        }
    }

    fn site(number: usize) -> Vec<Occurrence> {
        vec![Occurrence {
            at: Nanos::from_secs(600),
            until: None,
            what: Happening::SiteLost { site: number },
            text: format!("site {}", number + 1),
            take_over: Vec::new(),
        }]
    }

    const BOTH: [Duty; 2] = [Duty::Active, Duty::Active];

    /// The second case interrupts; the first, which is played as the worst, does not.
    #[test]
    fn an_interruption_in_any_case_is_that_of_the_claim() {
        let quiet = vec![stretch((0, 600), BOTH), stretch((600, 7_200), BOTH)];
        let waits = vec![
            stretch((0, 600), BOTH),
            stretch((600, 1_500), [Duty::Idle, Duty::Active]),
            stretch((1_500, 2_400), [Duty::Idle, Duty::Idle]),
            stretch((2_400, 7_200), BOTH),
        ];
        let cases = [site(0), site(1)];
        let found = longest_outage(&cases, &[quiet.clone(), waits.clone()], None);
        let found = found.expect("an interruption");
        assert_eq!((found.databases, found.longest_ns), (2, 1_800_000_000_000));
        assert_eq!((&*found.case, found.ended_by), ("if site 2 fails", OutageEnd::Activation));
        assert!(!found.exceeds());
        let allowed = |minutes: u64| Some(Nanos::from_secs(minutes * 60));
        let within =
            |minutes| longest_outage(&cases[1..], std::slice::from_ref(&waits), allowed(minutes));
        assert_eq!(within(29).map(|of| of.exceeds()), Some(true));
        assert_eq!(within(30).map(|of| of.exceeds()), Some(false));
        assert_eq!(longest_outage(&cases[..1], &[quiet], None), None);
    }

    #[test]
    fn a_lagged_copy_is_the_reason_if_it_replays_and_what_stays_lost_is_no_interruption() {
        let replays = vec![
            stretch((0, 600), BOTH),
            stretch((600, 1_500), [Duty::CatchingUp, Duty::Active]),
            stretch((1_500, 7_200), BOTH),
        ];
        let found = longest_outage(&[site(0)], &[replays], None).expect("an interruption");
        assert_eq!(found.ended_by, OutageEnd::Replay);
        let lost = vec![stretch((0, 600), BOTH), stretch((600, 7_200), [Duty::Idle, Duty::Active])];
        assert_eq!(longest_outage(&[site(0)], &[lost], None), None);
    }
}
