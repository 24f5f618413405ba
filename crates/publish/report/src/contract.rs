//! Common members of every machine-readable answer: its kind, the version of that kind's schema,
//! and no number that a JavaScript reader would round.

use serde::Serialize;
use serde_json::{Map, Value};

/// Schema version of all answers except reports, incremented when any member changes its meaning or
/// is removed.
pub(crate) const ANSWER_SCHEMA: u32 = 1;

/// Whole numbers beyond this are no longer exact as IEEE 754 doubles.
const LARGEST_EXACT: u64 = 1 << 53;

/// Builds the answer `kind` with these members; members that are no object become its `members`.
pub fn answer(kind: &str, members: Value) -> Value {
    let mut answer = match exact(members) {
        Value::Object(members) => members,
        other => Map::from_iter([("members".to_owned(), other)]),
    };
    answer.insert("schema".to_owned(), ANSWER_SCHEMA.into());
    answer.insert("kind".to_owned(), kind.into());
    Value::Object(answer)
}

/// Serialises a value as indented JSON.
pub(crate) fn written(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .expect("invariant: a report has text keys and finite numbers");
    text.push('\n');
    units::plain_json(&text).into_owned()
}

/// The value, with whole numbers beyond [`LARGEST_EXACT`] as text.
fn exact(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, exact(member))).collect()
        }
        Value::Array(elements) => elements.into_iter().map(exact).collect(),
        Value::Number(number) if is_rounded(&number) => number.to_string().into(),
        other => other,
    }
}

fn is_rounded(number: &serde_json::Number) -> bool {
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    magnitude.is_some_and(|magnitude| magnitude > LARGEST_EXACT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::answer;

    #[test]
    fn an_answer_says_what_it_is_and_no_number_is_rounded() {
        let found =
            answer("space", json!({ "a": [1, u64::MAX, i64::MIN], "b": { "c": 1_i64 << 53 } }));
        let expected = json!({
            "schema": 1,
            "kind": "space",
            "a": [1, "18446744073709551615", "-9223372036854775808"],
            "b": { "c": 1_u64 << 53 },
        });
        assert_eq!(found, expected);
        assert_eq!(answer("runs", json!([]))["members"], json!([]));
    }
}
