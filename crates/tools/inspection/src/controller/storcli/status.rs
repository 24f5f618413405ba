//! The state of the controller: its own status, its memory, and writes that it preserves.

use serde_json::Value;

use super::super::words::{PRESERVED, alarm, errors, health, minor_errors, switch};
use super::super::{Controller, Health};
use super::word;

/// Switches of the controller's state that are bad when they are on.
const BAD_IF_YES: [&str; 3] = [
    "Controller has booted into safe mode",
    "Controller shutdown required",
    "Failed to get lock key on bootup",
];

/// Whether a part has the members of the part `Status`, whatever its name.
pub(super) fn is_told_in(part: &Value) -> bool {
    let names = [
        "Controller Status",
        "Memory Correctable Errors",
        "Memory Uncorrectable Errors",
        "Any Offline VD Cache Preserved",
    ];
    names.iter().any(|name| word(part, name).is_some())
}

pub(super) fn read(controller: &mut Controller, status: &Value) {
    let told = word(status, "Controller Status");
    controller.expect(told.is_some(), "the part Status", "Controller Status");
    if let Some(words) = told {
        controller.status.learn_words(&words, health(&words));
    }
    let correctable = word(status, "Memory Correctable Errors");
    let uncorrectable = word(status, "Memory Uncorrectable Errors");
    let preserved = word(status, "Any Offline VD Cache Preserved");
    let is_any_told = [&correctable, &uncorrectable, &preserved].iter().any(|of| of.is_some());
    for (told, what) in [
        (&correctable, "Memory Correctable Errors"),
        (&uncorrectable, "Memory Uncorrectable Errors"),
        (&preserved, "Any Offline VD Cache Preserved"),
    ] {
        controller.expect(told.is_some() || !is_any_told, "the part Status", what);
    }
    if let Some(words) = correctable {
        let state = minor_errors(&words, "correctable memory errors");
        controller.memory.learn_words(&words, state);
    }
    if let Some(words) = uncorrectable {
        let state = errors(&words, "uncorrectable memory errors");
        controller.memory.learn_words(&words, state);
    }
    if let Some(words) = preserved {
        controller.preserved_cache.learn_words(&words, alarm(&words, PRESERVED));
    }
    of_switches(controller, status);
}

fn of_switches(controller: &mut Controller, status: &Value) {
    for name in BAD_IF_YES {
        if let Some(true) = word(status, name).and_then(|words| switch(&words)) {
            controller.status.learn(Health::Bad(name.to_owned()));
        }
    }
}
