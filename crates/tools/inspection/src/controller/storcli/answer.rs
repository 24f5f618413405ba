//! One controller's answer.

use serde_json::Value;

use super::super::known::KnownFact;
use super::super::words::{size_bytes, switch};
use super::super::{Controller, Tool};
use super::{Members, drives, energy, status, word, words_of};

/// The controller of an answer. If part of the answer is a failure, such as one on foreign
/// configurations, the rest still counts.
pub(super) fn controller(answer: &Value) -> Option<Controller> {
    let data = answer.get("Response Data")?.as_object()?;
    let status = answer.get("Command Status")?;
    let number = word(status, "Controller").filter(|id| id.bytes().all(|b| b.is_ascii_digit()))?;
    let version = word(status, "CLI Version").unwrap_or_default();
    let is_later = version.trim_start_matches('0').starts_with("8.") || is_of_later_form(data);
    let tool = if is_later { Tool::Storcli2 } else { Tool::Storcli };
    let mut controller = Controller::new(tool, Some(&number));
    let model = of(data, "Basics", "Model").or_else(|| of(data, "Basics", "Product Name"));
    controller.model = model.or_else(|| top(data, "Product Name")).unwrap_or_default();
    controller.serial = of(data, "Basics", "Serial Number").or_else(|| top(data, "Serial Number"));
    if let Some(words) = of(data, "HwCfg", "On Board Memory Size") {
        controller.cache_bytes.learn_words(&words, size_bytes(&words));
    }
    if let Some(words) = of(data, "Defaults", "Cache When BBU Bad") {
        controller.caches_without_backup.learn_words(&words, switch(&words));
    }
    for (_, part) in
        data.iter().filter(|(name, part)| *name == "Status" || status::is_told_in(part))
    {
        status::read(&mut controller, part);
    }
    personality(
        &mut controller,
        top(data, "Controller Personality").or_else(|| of(data, "Status", "Current Personality")),
    );
    energy::read(&mut controller.backup, data);
    drives::read(&mut controller, data);
    Some(controller)
}

fn of(data: &Members, part: &str, name: &str) -> Option<String> {
    data.get(part).and_then(|part| word(part, name))
}

fn top(data: &Members, name: &str) -> Option<String> {
    data.get(name).and_then(words_of)
}

fn is_of_later_form(data: &Members) -> bool {
    let rows = data.get("VD LIST").and_then(Value::as_array);
    rows.is_some_and(|rows| rows.iter().any(|row| row.get("CurrentCache").is_some()))
}

/// `RAID-Mode`, `RAID`; `JBOD-Mode`, `HBA-Mode`.
fn personality(controller: &mut Controller, words: Option<String>) {
    let Some(words) = words.filter(|words| !words.is_empty()) else {
        return;
    };
    let small = words.to_ascii_lowercase();
    let through =
        match (small.starts_with("raid"), small.starts_with("hba") || small.starts_with("jbod")) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        };
    let known: &mut KnownFact<bool> = &mut controller.passes_disks_through;
    known.learn_words(&words, through);
}
