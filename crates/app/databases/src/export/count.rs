//! How many rows of a table were exported, and how much was not.

use crate::opened::OpenDatabase;

/// Result of exporting a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowCount {
    /// Rows written.
    pub rows: u64,
    /// Values stored by an unknown method.
    pub not_decoded: u64,
    /// Pages of rows that are lost.
    pub lost_leaves: u64,
    /// Values of exported rows that are lost, entirely or in part.
    pub lost_values: u64,
}

impl RowCount {
    /// Sums up the losses of table `name`, whose pages hold about `rows_a_page`.
    pub(super) fn name_losses(&self, name: &str, rows_a_page: Option<u64>, opened: &OpenDatabase) {
        if let Some(rows) = rows_a_page.filter(|_| self.lost_leaves > 0) {
            let about = rows * self.lost_leaves;
            opened.say(&format!("{name}: about {about} rows are lost"));
        }
        if self.lost_values > 0 {
            let values = self.lost_values;
            opened.say(&format!("{name}: {values} values of exported rows are lost or not whole"));
        }
        if self.not_decoded > 0 {
            let values = self.not_decoded;
            opened.say(&format!("{name}: {values} values were not decoded"));
        }
    }
}
