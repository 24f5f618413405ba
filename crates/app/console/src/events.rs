//! Events and errors for programs: one JSON object per line, on standard error under `--json`. All
//! begin with the same members; `docs/json.md` describes them.

use std::time::{SystemTime, UNIX_EPOCH};

use report::format::iso_time;
use serde_json::{Map, Value, json};

/// Version of the event schema: it increases when a member changes its meaning or is removed.
pub(crate) const SCHEMA: u32 = 1;

/// The event `name` with these members, `epoch_ns` after 1970.
pub(crate) fn event(name: &str, epoch_ns: u64, mut members: Map<String, Value>) -> Value {
    members.insert("schema".to_owned(), SCHEMA.into());
    members.insert("kind".to_owned(), "event".into());
    members.insert("event".to_owned(), name.into());
    members.insert("at".to_owned(), iso_time(epoch_ns).into());
    Value::Object(members)
}

/// Builds an event that carries a remark in words.
pub(crate) fn message(text: &str) -> Value {
    now("message", json!({ "text": text }))
}

/// Reports progress of work that scans files from end to end.
pub(crate) fn progress(work: &str, done_bytes: u64, total_bytes: u64) -> Value {
    let members = json!({ "work": work, "done_bytes": done_bytes, "total_bytes": total_bytes });
    now("progress", members)
}

/// Reports progress of other work, in words.
pub(crate) fn state(work: &str, text: &str) -> Value {
    now("progress", json!({ "work": work, "text": text }))
}

/// Builds the error object of a command that ended without an answer.
pub(crate) fn error(sentence: &str, exit_status: u8) -> Value {
    json!({
        "schema": SCHEMA,
        "kind": "error",
        "at": iso_time(now_ns()),
        "error": sentence,
        "exit_status": exit_status,
    })
}

/// Builds the event `name` with these members and the current time.
pub fn now(name: &str, members: Value) -> Value {
    let Value::Object(members) = members else { unreachable!("an event has members") };
    event(name, now_ns(), members)
}

/// Nanoseconds since 1970.
pub fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
