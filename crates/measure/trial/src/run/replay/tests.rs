//! Compares replays with the acknowledgements.

use engine::recovery::RecoverySummary;
use ese::Lgpos;
use units::{Generation, Nanos};

use super::{Abandoned, lost, replayed};

fn at(generation: u32, segment: u16) -> Lgpos {
    Lgpos { generation: Generation(generation), segment, byte: 0 }
}

#[test]
fn a_replay_that_ends_early_or_does_nothing_has_lost_something() {
    let abandoned = Abandoned { end: at(9, 40), generated: Nanos(1) };
    let whole = RecoverySummary {
        first: Generation(5),
        last: Generation(9),
        end: at(9, 40),
        ..RecoverySummary::default()
    };
    assert_eq!(lost("/a.edb", &abandoned, &whole), None);
    assert_eq!(replayed(&whole).logs, 5);
    let short = RecoverySummary { end: at(9, 39), ..whole };
    let text = lost("/a.edb", &abandoned, &short).unwrap();
    assert!(text.starts_with("/a.edb: the log ends at "), "{text}");
    let nothing = RecoverySummary::default();
    let text = lost("/a.edb", &abandoned, &nothing).unwrap();
    assert!(text.contains("nothing was replayed"), "{text}");
    assert_eq!(replayed(&nothing).logs, 0);
}
