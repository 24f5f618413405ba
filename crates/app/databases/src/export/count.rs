//! How many rows of a table were exported, and how much was not.

use ese::reader::{Loss, LostPart};

use crate::opened::OpenDatabase;

/// The verb after `count` things.
const fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Result of exporting a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowCount {
    /// Rows written.
    pub rows: u64,
    /// Values stored by an unknown method.
    pub not_decoded: u64,
    /// Lost leaf pages, which hold rows.
    lost_leaves: u64,
    /// Whether pages are lost that hide an unknown number of rows.
    hides_rows: bool,
    /// Values of exported rows that are lost, entirely or in part.
    pub lost_values: u64,
}

impl RowCount {
    /// Counts a lost part of the table.
    pub(super) fn note(&mut self, loss: &Loss) {
        self.lost_leaves += u64::from(loss.part == LostPart::Leaf);
        self.hides_rows |= loss.is_of_unknown_extent();
    }

    /// Sums up the losses of table `name`, whose pages hold about `rows_a_page`.
    pub(super) fn name_losses(&self, name: &str, rows_a_page: Option<u64>, opened: &OpenDatabase) {
        let a_page = rows_a_page.filter(|rows| rows * self.lost_leaves > 0);
        match a_page {
            _ if self.hides_rows => opened.say(&format!(
                "{name}: rows are lost, and how many is unknown: the internal pages that lead to \
                 them are lost too"
            )),
            Some(a_page) => {
                let about = a_page * self.lost_leaves;
                let (rows, are) = (units::plural(about, "row"), are(about));
                opened.say(&format!(
                    "{name}: about {rows} {are} lost: {} of rows, if they hold {a_page} each like \
                     the mean page that was read",
                    units::plural(self.lost_leaves, "page")
                ));
            }
            None => {}
        }
        if self.lost_values > 0 {
            let (values, are) = (units::plural(self.lost_values, "value"), are(self.lost_values));
            opened.say(&format!("{name}: {values} of exported rows {are} lost or not whole"));
        }
        if self.not_decoded > 0 {
            let values = units::plural(self.not_decoded, "value");
            let were = if self.not_decoded == 1 { "was" } else { "were" };
            opened.say(&format!("{name}: {values} {were} not decoded"));
        }
    }
}
