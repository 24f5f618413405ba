//! The CSV of Microsoft's `Generate-MessageProfile.ps1`: one row per site.

use std::collections::BTreeMap;

use crate::FileReport;
use crate::sheet::{BadRow, Sheet, SheetRow};
use crate::tracking::Counted;

/// The mail of one site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteMail {
    pub mailboxes: u64,
    pub days: u64,
    pub counted: Counted,
}

/// Name of the row that totals all sites.
const ALL_SITES: &str = "~All Sites";

/// Adds a file. As in the script's own merge, a repeated site adds its messages and days, and its
/// latest number of mailboxes counts. Uses the sums, never the averages, which the script rounds
/// up.
pub(super) fn read(
    mut sheet: Sheet<'_>,
    report: &mut FileReport,
    sites: &mut BTreeMap<String, SiteMail>,
) {
    while let Some(row) = sheet.next() {
        report.rows += 1;
        match row.and_then(site) {
            Ok((name, _)) if name == ALL_SITES => report.leave_out("the sum of all sites"),
            Ok((_, mail)) if mail.mailboxes == 0 => report.leave_out("a site without mailboxes"),
            Ok((name, mail)) => {
                let known = sites.entry(name).or_default();
                known.mailboxes = mail.mailboxes;
                known.days += mail.days;
                known.counted.messages += mail.counted.messages;
                known.counted.bytes = known.counted.bytes.saturating_add(mail.counted.bytes);
            }
            Err(bad) => report.bad(bad),
        }
    }
}

fn site(row: SheetRow<'_>) -> Result<(String, SiteMail), BadRow> {
    let days = row.count("TotalDays")?;
    if days == 0 {
        return Err(row.bad("TotalDays", "one day or more"));
    }
    let kilobytes = row.count("SentKB")?.saturating_add(row.count("RcvdKB")?);
    let counted = Counted {
        messages: row.count("SentMsgs")?.saturating_add(row.count("RcvdMsgs")?),
        bytes: kilobytes.saturating_mul(1024),
    };
    let mailboxes = row.count("Mailboxes")?;
    let mail = SiteMail { mailboxes, days, counted };
    Ok((row.text("SiteName").to_owned(), mail))
}
