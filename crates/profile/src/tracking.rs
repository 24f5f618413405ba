//! Message tracking logs: what mailboxes sent and received, by day and hour.
//!
//! The rules are those of Microsoft's `Generate-MessageProfile.ps1` 2.1, so that both give the same
//! figures from the same logs: sent is RECEIVE from the store driver, once per message; received is
//! DELIVER by the store driver, once per recipient.

use std::collections::BTreeSet;

use crate::date::{Date, moment};
use crate::sheet::{BadRow, Sheet, SheetRow};
use crate::{FileReport, Options};

/// Everything counted so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    pub sent: Counted,
    pub received: Counted,
    /// Messages by hour of the day.
    pub hours: [u64; 24],
    /// Days on which something was counted.
    pub days: BTreeSet<Date>,
    /// Addresses that received something.
    pub mailboxes: BTreeSet<String>,
}

/// Messages and their lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub messages: u64,
    pub bytes: u64,
}

impl Counted {
    fn add(&mut self, times: u64, bytes: u64) {
        self.messages += times;
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(times));
    }
}

impl Traffic {
    /// Adds one log.
    pub(super) fn read(
        &mut self,
        mut sheet: Sheet<'_>,
        report: &mut FileReport,
        options: &Options,
    ) {
        while let Some(row) = sheet.next() {
            report.rows += 1;
            if let Err(bad) = row.and_then(|row| self.row(row, report, options)) {
                report.bad(bad);
            }
        }
    }

    fn row(
        &mut self,
        row: SheetRow<'_>,
        report: &mut FileReport,
        options: &Options,
    ) -> Result<(), BadRow> {
        let event = row.text("event-id");
        let from_store = row.text("source").eq_ignore_ascii_case("STOREDRIVER");
        let sent = event.eq_ignore_ascii_case("RECEIVE");
        let received = event.eq_ignore_ascii_case("DELIVER");
        if !from_store || !(sent || received) {
            report.leave_out("another event");
            return Ok(());
        }
        if let Some(reason) = machine_made(row) {
            report.leave_out(reason);
            return Ok(());
        }
        let (day, hour) = moment(row.text("date-time"), options.utc_offset_hours)
            .ok_or_else(|| row.bad("date-time", "a moment such as 2026-11-20T09:15:00.123Z"))?;
        if options.working_days_only && !day.is_working_day() {
            report.leave_out("not a working day");
            return Ok(());
        }
        let bytes = row.count("total-bytes")?;
        let recipients = recipients(row);
        let times = if sent { 1 } else { recipients.len() as u64 };
        if times == 0 {
            return Err(row.bad("recipient-address", "one address or more"));
        }
        report.saw(row.text("date-time").get(..10).unwrap_or(""));
        self.days.insert(day);
        self.hours[hour] += times;
        if sent {
            self.sent.add(times, bytes);
        } else {
            self.received.add(times, bytes);
            self.mailboxes.extend(recipients);
        }
        Ok(())
    }
}

fn recipients(row: SheetRow<'_>) -> Vec<String> {
    row.text("recipient-address")
        .split(';')
        .map(|address| address.trim().to_lowercase())
        .filter(|address| !address.is_empty())
        .collect()
}

/// Why a message was not written by a person.
fn machine_made(row: SheetRow<'_>) -> Option<&'static str> {
    let monitors = |address: &str| {
        let address = address.trim().to_lowercase();
        address.starts_with("healthmailbox") || address.starts_with("extest_")
    };
    let message = row.text("message-id").trim_end_matches('>');
    if message.ends_with("journal.report.generator") {
        return Some("a journal report");
    }
    let recipients = row.text("recipient-address");
    let monitored = !recipients.is_empty() && recipients.split(';').all(monitors);
    if monitored || monitors(row.text("sender-address")) {
        return Some("a health mailbox");
    }
    None
}
