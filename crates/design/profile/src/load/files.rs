//! What one file contributed to a load profile, and which of its parts were not understood.

use std::collections::BTreeMap;

use units::plural;

/// Maximum number of unrecognised columns to name.
const MOST_NAMED: usize = 3;

/// What one file contributed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFile {
    /// Its name, as given.
    pub name: String,
    /// Kind of the file.
    pub kind: &'static str,
    /// Time zone of its clock, if the file names one.
    pub zone: Option<String>,
    /// Rows or lines that were read.
    pub rows: u64,
    /// Samples, or requests of a trace, that count.
    pub used: u64,
    /// Ignored cells, rows and lines, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Columns of other counters.
    pub other_columns: u64,
    /// The first of them.
    pub named_columns: Vec<String>,
    /// Gaps, i.e. pauses of more than three usual intervals between two samples: their number, and
    /// the longest in seconds.
    pub gaps: (u64, i64),
}

impl LoadFile {
    pub(super) fn new(name: &str, kind: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            zone: None,
            rows: 0,
            used: 0,
            skipped: BTreeMap::new(),
            other_columns: 0,
            named_columns: Vec::new(),
            gaps: (0, 0),
        }
    }

    /// A file already read under another name.
    pub(super) fn repeated(name: &str) -> Self {
        let mut file = Self::new(name, "a file that was read already");
        file.skip("whole files", 1);
        file
    }

    pub(super) fn skip(&mut self, reason: &'static str, count: u64) {
        if count > 0 {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    pub(super) fn other_column(&mut self, header: &str) {
        self.other_columns += 1;
        if self.named_columns.len() < MOST_NAMED {
            self.named_columns.push(units::shortened(header, 80).into_owned());
        }
    }

    /// Lists the parts that were not understood, in one sentence; `None` if all were.
    pub fn not_understood(&self) -> Option<String> {
        let mut parts: Vec<String> =
            self.skipped.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        if self.other_columns > 0 {
            let named = self.named_columns.join(", ");
            let columns = plural(self.other_columns, "column");
            parts.push(format!("{columns} of other counters (such as {named})"));
        }
        if let (count @ 1.., longest) = self.gaps {
            let gaps = plural(count, "gap");
            parts.push(format!("{gaps}, the longest of {longest} s"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
