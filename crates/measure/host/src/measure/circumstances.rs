//! Whether machine, program and storage of a run are as they were when it began.

use record::{Event, Start, VolumeFacts, codec};
use serde_json::Value;

/// Returns the first difference between the start of a run and one that began now: its name, and
/// both values.
pub(super) fn difference(before: &Start, present: Start) -> Option<(String, String, String)> {
    let (was, is) = (comparable(before.clone(), before), comparable(present, before));
    first_difference("", &was, &is)
}

/// The values that both parts of a run must share. Values that may differ are cleared, or taken
/// from `before`, the start of the first part.
fn comparable(mut start: Start, before: &Start) -> Value {
    start.settings.measure_ns = before.settings.measure_ns;
    start.settings.threads_per_database = before.settings.threads_per_database;
    // Set by the plan; with load steps this is the mean over the whole measurement.
    start.settings.target_iops = before.settings.target_iops;
    start.started_epoch_ns = 0;
    start.machine.memory_bytes = 0;
    start.processors_before = None;
    (start.command, start.options) = (String::new(), Vec::new());
    start.plan_text = String::new();
    start.tags = Vec::new();
    start.set = Vec::new();
    start.name = String::new();
    // Batteries charge, and device names change at boot.
    start.storage = Vec::new();
    for database in &mut start.databases {
        database.initial_bytes = 0;
        forget_what_changes(&mut database.volume);
        forget_what_changes(&mut database.log_volume);
    }
    // Compare both in their text form, which rounds.
    let read = codec::decode(&codec::encode(&Event::Start(Box::new(start))));
    let text = read.map(|event| codec::encode(&event)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A disk may get another name at boot, and its free space depends on the load.
fn forget_what_changes(volume: &mut VolumeFacts) {
    volume.free_bytes = 0;
    volume.device.clear();
}

/// The first member that differs: its name, and its two values.
fn first_difference(name: &str, one: &Value, two: &Value) -> Option<(String, String, String)> {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let mut names = one.keys().chain(two.keys().filter(|key| !one.contains_key(*key)));
            names.find_map(|key| {
                let [one, two] = [one, two].map(|all| all.get(key).unwrap_or(&Value::Null));
                first_difference(&inner(name, key), one, two)
            })
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            let mut pairs = one.iter().zip(two).zip(1_u32..);
            pairs.find_map(|((one, two), number)| {
                first_difference(&inner(name, &number.to_string()), one, two)
            })
        }
        (one, two) if one == two => None,
        (one, two) => Some((name.to_owned(), one.to_string(), two.to_string())),
    }
}

fn inner(name: &str, member: &str) -> String {
    let dot = if name.is_empty() { "" } else { "." };
    format!("{name}{dot}{member}")
}

#[cfg(test)]
mod tests {
    use record::{DatabaseFacts, Machine, Start};

    use super::difference;

    fn start() -> Start {
        let machine = Machine { name: "a".to_owned(), memory_bytes: 7, ..Machine::default() };
        Start { machine, databases: vec![DatabaseFacts::default()], ..Start::default() }
    }

    #[test]
    fn another_machine_program_or_volume_is_named_and_what_always_changes_is_not() {
        let before = start();
        let compare = |change: &dyn Fn(&mut Start)| {
            let mut present = start();
            change(&mut present);
            difference(&before, present)
        };
        assert_eq!(compare(&|_| ()), None);
        assert_eq!(compare(&|start| start.machine.memory_bytes = 9), None);
        assert_eq!(compare(&|start| start.databases[0].volume.device = "/dev/sdc".into()), None);
        assert_eq!(compare(&|start| start.settings.measure_ns = 9), None);
        let (what, was, is) = compare(&|start| start.machine.name = "b".into()).unwrap();
        assert_eq!((what.as_str(), was.as_str(), is.as_str()), ("machine.name", "\"a\"", "\"b\""));
        let (what, ..) = compare(&|start| start.settings.executors = 9).unwrap();
        assert_eq!(what, "settings.executors");
        let (what, ..) =
            compare(&|start| start.databases[0].log_volume.mount = "/x".into()).unwrap();
        assert_eq!(what, "databases.1.log_volume.mount");
        let (what, ..) = compare(&|start| start.databases.clear()).unwrap();
        assert_eq!(what, "databases");
    }
}
