//! The side effects of a change: numbers of the bill, and findings that come or go.

use sizing::{Build, Decision, DesignFinding, Key, ServerKind, Sizing};

/// Numbers that a buyer pays for or an operator lives with, and the work that the load of a disk
/// leaves out; disks, servers and cost are apart.
const NUMBERS: [Key; 8] = [
    Key::DatabaseAll,
    Key::IoMaintenanceMbPerServer,
    Key::MemoryAllGb,
    Key::RackUnitsAll,
    Key::PowerAllWatts,
    Key::DiskSystemAll,
    Key::MetaCacheSsdsAll,
    Key::ServerWorstActiveDbs(ServerKind::First),
];

/// The numbers that differ between two sizings: key, before, after.
pub(super) fn changed_numbers(now: &Sizing, then: &Sizing) -> Vec<(Key, f64, f64)> {
    NUMBERS
        .into_iter()
        .filter_map(|key| Some((key, now.number(key)?, then.number(key)?)))
        .filter(|(_, before, after)| (before - after).abs() > 1e-9)
        .collect()
}

/// The decisions that differ between two sizings: key, before, after. One key can turn others, as
/// single disks become groups if each holds one database. The levels that groups would have decide
/// nothing where one of the designs has single disks.
pub(super) fn changed_decisions(now: &Sizing, then: &Sizing) -> Vec<(Key, Decision, Decision)> {
    now.sheet
        .facts()
        .iter()
        .map(|fact| fact.key)
        .filter_map(|key| Some((key, now.sheet.decision(key)?, then.sheet.decision(key)?)))
        .filter(|(_, before, after)| before != after)
        .filter(|(_, _, after)| {
            !matches!(after, Decision::Raid(_)) || has_groups(now) && has_groups(then)
        })
        .collect()
}

fn has_groups(sized: &Sizing) -> bool {
    let groups = Some(Decision::Build(Build::Raid));
    [ServerKind::First, ServerKind::Second, ServerKind::Lagged]
        .into_iter()
        .any(|kind| sized.sheet.decision(Key::DiskArchitecture(kind)) == groups)
}

/// The findings of `then` that `now` does not have. One that only has other numbers is the same.
pub(super) fn appeared(now: &[DesignFinding], then: &[DesignFinding]) -> Vec<DesignFinding> {
    let mut appeared = then.to_vec();
    appeared
        .retain(|of| now.iter().all(|known| (known.key, known.severity) != (of.key, of.severity)));
    appeared
}

#[cfg(test)]
mod tests {
    use sizing::{DesignFinding, Key, Severity};

    use super::appeared;

    fn finding(key: Key, severity: Severity, text: &str) -> DesignFinding {
        DesignFinding { severity, key, text: text.to_owned(), remedy: "do".into() }
    }

    /// A warning that becomes a violation is new; one with another number is not.
    #[test]
    fn a_finding_is_new_by_its_subject_and_weight() {
        let now = [
            finding(Key::DiskAll, Severity::Warning, "10 disks"),
            finding(Key::ServerAll, Severity::Remark, "few"),
        ];
        let then = [
            finding(Key::DiskAll, Severity::Warning, "12 disks"),
            finding(Key::ServerAll, Severity::Warning, "few"),
        ];
        assert_eq!(appeared(&now, &then), vec![then[1].clone()]);
        assert_eq!(appeared(&then, &now), vec![now[1].clone()]);
    }
}
