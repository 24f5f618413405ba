//! Mailbox sizes, from `Get-MailboxStatistics` or the usage report of Microsoft 365.

use std::collections::BTreeSet;

use crate::FileReport;
use crate::date::day;
use crate::kind::LogKind;
use crate::sheet::{BadRow, Sheet, SheetRow};
use crate::system::{of_kind, of_name};

/// One mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mailbox {
    /// Bytes of its items.
    pub used: u64,
    /// Bytes of its deleted items.
    pub deleted: u64,
    /// Maximum size in bytes; `None` if the file does not contain it.
    pub quota: Option<u64>,
    /// Whether it has an archive.
    pub archive: bool,
}

/// Adds a file; `known` are the mailboxes that were counted before.
pub(super) fn read(
    mut sheet: Sheet<'_>,
    report: &mut FileReport,
    mailboxes: &mut Vec<Mailbox>,
    known: &mut BTreeSet<String>,
) {
    while let Some(row) = sheet.next() {
        report.rows += 1;
        let row = match row {
            Ok(row) => row,
            Err(bad) => {
                report.bad(bad);
                continue;
            }
        };
        let identity = identity(row);
        if let Some(reason) = no_mailbox(row) {
            report.leave_out(reason);
        } else if !identity.is_empty() && !known.insert(identity) {
            report.leave_out("counted already");
        } else {
            match mailbox(row, report.kind) {
                Ok(mailbox) => {
                    if let Some(_date) = day(row.text("Report Refresh Date")) {
                        report.saw(row.text("Report Refresh Date"));
                    }
                    mailboxes.push(mailbox);
                }
                Err(bad) => report.bad(bad),
            }
        }
    }
}

/// The key that distinguishes mailboxes. Display names do not; names in usage reports may be
/// concealed, but remain distinct.
fn identity(row: SheetRow<'_>) -> String {
    let columns = ["User Principal Name", "MailboxGuid", "PrimarySmtpAddress"];
    let mut texts = columns.iter().map(|column| row.text(column));
    texts.find(|text| !text.is_empty()).unwrap_or("").to_lowercase()
}

/// Reason why a row is no user's mailbox. The kinds that the message profile omits are omitted here
/// too.
fn no_mailbox(row: SheetRow<'_>) -> Option<&'static str> {
    if row.is_true("Is Deleted") || !row.text("DisconnectDate").is_empty() {
        return Some("deleted or disconnected");
    }
    if row.is_true("IsArchiveMailbox") {
        return Some("an archive");
    }
    let kinds = ["MailboxTypeDetail", "RecipientTypeDetails"];
    let names = ["DisplayName", "Display Name", "PrimarySmtpAddress", "User Principal Name"];
    let by_kind = kinds.iter().find_map(|column| of_kind(row.text(column)));
    by_kind.or_else(|| names.iter().find_map(|column| of_name(row.text(column))))
}

fn mailbox(row: SheetRow<'_>, kind: LogKind) -> Result<Mailbox, BadRow> {
    if kind == LogKind::MailboxStatistics {
        let deleted = match row.text("TotalDeletedItemSize") {
            "" => 0,
            _ => row.length("TotalDeletedItemSize")?,
        };
        return Ok(Mailbox {
            used: row.length("TotalItemSize")?,
            deleted,
            quota: None,
            archive: false,
        });
    }
    let quota = row.count_or_zero("Prohibit Send/Receive Quota (Byte)")?;
    Ok(Mailbox {
        used: row.count("Storage Used (Byte)")?,
        deleted: row.count_or_zero("Deleted Item Size (Byte)")?,
        quota: (quota > 0).then_some(quota),
        archive: row.is_true("Has Archive"),
    })
}
