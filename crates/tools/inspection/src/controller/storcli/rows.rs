//! Rows and properties of an answer by subject, wherever a release nests them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Members, number_in_name, word};

/// The parts of an answer.
#[derive(Default)]
pub(super) struct AnswerRows<'a> {
    /// Rows of virtual drives, each once.
    pub drives: Vec<&'a Value>,
    /// Properties of virtual drives, by number.
    pub properties: Vec<(String, &'a Value)>,
    /// Rows of physical disks, each once.
    pub disks: Vec<&'a Value>,
    /// Attributes of disks, by path.
    pub attributes: Vec<(String, &'a Value)>,
    topology: Vec<&'a Value>,
}

impl<'a> AnswerRows<'a> {
    pub(super) fn of(data: &'a Members) -> Self {
        let mut rows = Self::default();
        for (name, part) in data {
            // Depth limit; no output nests deeper.
            rows.take(name, part, 8);
        }
        rows
    }

    fn take(&mut self, name: &str, value: &'a Value, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match value {
            Value::Array(rows) => rows.iter().for_each(|row| self.take(name, row, depth)),
            Value::Object(members) => {
                self.note(name, value, members);
                for (name, part) in members {
                    self.take(name, part, depth);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, name: &str, value: &'a Value, members: &'a Members) {
        if members.contains_key("DG/VD") {
            push_once(&mut self.drives, value);
        } else if members.contains_key("EID:Slt") {
            push_once(&mut self.disks, value);
        } else if name == "TOPOLOGY" {
            self.topology.push(value);
        }
        if let Some(id) = number_in_name(name) {
            self.properties.push((id.to_owned(), value));
        }
        if let (Some(info), Some(properties)) =
            (members.get("VD Info"), members.get("VD Properties"))
        {
            let place = word(first(info), "DG/VD");
            if let Some(id) = place.as_deref().and_then(|of| of.split('/').nth(1)) {
                self.properties.push((id.to_owned(), first(properties)));
            }
        }
        let disk = name.strip_prefix("Drive ").and_then(|of| of.strip_suffix(" Device attributes"));
        self.attributes.extend(disk.map(|disk| (disk.trim().to_owned(), value)));
    }

    /// Number of described drives and disks, each counted once.
    pub(super) fn counts(&self) -> [usize; 2] {
        [(&self.drives, "DG/VD"), (&self.disks, "EID:Slt")].map(|(rows, place)| {
            rows.iter().filter_map(|row| word(row, place)).collect::<BTreeSet<_>>().len()
        })
    }

    /// The rows of physical disks in a drive group.
    pub(super) fn members(&self, group: &str) -> Vec<&'a Value> {
        let mut members = self.disks.clone();
        members.retain(|row| {
            let is_spare = word(row, "State").is_some_and(|state| state == "DHS");
            word(row, "DG").as_deref() == Some(group) && !is_spare
        });
        members.sort_by_key(|row| word(row, "EID:Slt"));
        members.dedup_by_key(|row| word(row, "EID:Slt"));
        members
    }

    /// The number of disks in a drive's properties.
    pub(super) fn disk_count(&self, id: &str) -> Option<u32> {
        let (_, of) = self.properties.iter().find(|(drive, _)| drive == id)?;
        let each: u32 = word(of, "Number of Drives Per Span")?.parse().ok()?;
        let spans = word(of, "Span Depth").and_then(|words| words.parse().ok());
        Some(each.saturating_mul(spans.unwrap_or(1)))
    }

    /// `PDC` of the group's own row: whether the caches of its disks are on.
    pub(super) fn group_caches(&self, group: &str) -> Option<String> {
        let of_group = self.topology.iter().find(|row| {
            word(row, "DG").as_deref() == Some(group) && word(row, "Arr").as_deref() == Some("-")
        })?;
        word(of_group, "PDC")
    }
}

fn push_once<'a>(rows: &mut Vec<&'a Value>, row: &'a Value) {
    if !rows.contains(&row) {
        rows.push(row);
    }
}

/// The first of a list, or the value itself if it is no list.
fn first(value: &Value) -> &Value {
    value.as_array().and_then(|all| all.first()).unwrap_or(value)
}
