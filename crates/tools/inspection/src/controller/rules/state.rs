//! States of a controller's parts: its own, its memory, its cache, its arrays.

use record::StorageFinding;

use super::super::known::KnownFact;
use super::super::{Controller, Health, Tool};
use crate::draft::FindingDraft;

/// A part: the check of it, its state, and the harm of a bad one.
type StatePart<'a> = ((&'static str, &'static str), &'a KnownFact<Health>, &'static str);

/// Findings on parts with a reported state.
pub(super) fn of_controller(controller: &Controller) -> Vec<StorageFinding> {
    parts(controller)
        .into_iter()
        .filter(|(_, state, _)| state.is_told())
        .map(|(name, state, harm)| judged(controller, name, state, harm))
        .collect()
}

fn parts(controller: &Controller) -> [StatePart<'_>; 5] {
    let own = match controller.tool {
        Tool::Nvme => ("device-health", "Health of the device"),
        _ => ("controller-status", "State of the controller"),
    };
    [
        (own, &controller.status, "it may lose writes, or stop"),
        (
            ("controller-memory", "Memory of the controller"),
            &controller.memory,
            "writes that are in its cache can be damaged: replace the memory",
        ),
        (
            ("preserved-cache", "Preserved cache"),
            &controller.preserved_cache,
            "bring the drive back before anything is written, or its last writes are lost",
        ),
        (
            ("controller-cache", "State of the cache"),
            &controller.cache,
            "writes go through to the disks while the cache is off, whatever the battery says",
        ),
        (
            ("array-state", "State of the arrays"),
            &controller.arrays,
            "a run would measure its repair, and the next lost disk may be mail",
        ),
    ]
}

fn judged(
    controller: &Controller,
    name: (&'static str, &'static str),
    state: &KnownFact<Health>,
    harm: &str,
) -> StorageFinding {
    let draft = FindingDraft::new(name, controller.name());
    let details = match name.0 {
        "controller-cache" if !controller.cache_details.is_empty() => {
            format!(" ({})", controller.cache_details.join("; "))
        }
        _ => String::new(),
    };
    // Each part may report several faults.
    let bad: Vec<&str> = state.told().iter().filter_map(Health::bad_words).collect();
    let all = bad.join("; ");
    state.judge(|one| match one {
        Some(Health::Ok) => draft.clone().pass(format!("in order{details}"), "nothing is reported"),
        Some(Health::Limited(words)) => draft.clone().warn(format!("{words}{details}"), harm),
        Some(Health::Bad(_)) => draft.clone().fail(format!("{all}{details}"), harm),
        None => draft.clone().unknown("not told", "this output does not say"),
    })
}
