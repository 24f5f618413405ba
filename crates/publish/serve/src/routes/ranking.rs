//! The sizes of the arrays of a finished sweep: its runs do not record them, but its ranking does.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The ranked arrays, each with its changes and its disks.
#[derive(Debug, Default)]
pub(super) struct RankedSizes(Vec<Value>);

impl RankedSizes {
    /// The arrays in a ranking; none if it cannot be read.
    pub(super) fn of(ranking: &Path) -> Self {
        let text = fs::read_to_string(ranking).unwrap_or_default();
        let mut answer: Value = serde_json::from_str(&text).unwrap_or_default();
        match answer["predictions"].take() {
            Value::Array(arrays) => Self(arrays),
            _ => Self::default(),
        }
    }

    /// The disks of the array with these changes, and how many of a group it survives losing.
    pub(super) fn of_array(&self, changes: &[(String, String)]) -> (Option<u32>, Option<u32>) {
        let found = self.0.iter().find(|array| has_changes(array, changes));
        let size = found.map(|array| ["disks", "failures_survived"].map(|of| number(array, of)));
        size.map_or((None, None), |[disks, survived]| (disks, survived))
    }
}

/// Whether these are all changes of a ranked array.
fn has_changes(array: &Value, changes: &[(String, String)]) -> bool {
    array["changes"].as_object().is_some_and(|ranked| {
        ranked.len() == changes.len()
            && changes.iter().all(|(key, value)| ranked.get(key) == Some(&(**value).into()))
    })
}

fn number(array: &Value, name: &str) -> Option<u32> {
    array[name].as_u64()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::RankedSizes;

    #[test]
    fn an_array_is_found_by_its_changes() {
        let array = |disks: u32, level: &str| {
            let changes = json!({ "raid.disks": disks.to_string(), "raid.level": level });
            json!({ "changes": changes, "disks": disks, "failures_survived": 1 })
        };
        let sizes = RankedSizes(vec![array(12, "5"), array(24, "5"), json!({ "changes": {} })]);
        let changes = |disks: &str| {
            [("raid.level", "5"), ("raid.disks", disks)]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
        };
        assert_eq!(sizes.of_array(&changes("24")), (Some(24), Some(1)));
        assert_eq!(sizes.of_array(&changes("36")), (None, None));
        assert_eq!(sizes.of_array(&changes("24")[..1]), (None, None), "another array");
        assert_eq!(sizes.of_array(&[]), (None, None), "its disks are not recorded");
    }
}
