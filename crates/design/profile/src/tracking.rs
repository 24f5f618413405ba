//! Message tracking, as logs or exports: messages that mailboxes sent and received, by day and
//! hour.
//!
//! The rules are those of Microsoft's `Generate-MessageProfile.ps1` 2.1, so that both give the same
//! figures for the same logs: sent is RECEIVE from the store driver, once per message; received is
//! DELIVER by the store driver, once per recipient.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::date::{Date, DateOrder, local_moment, moment};
use crate::kind::LogKind;
use crate::sheet::{BadRow, Sheet, SheetRow};
use crate::system::{HEALTH, of_name};
use crate::{FileReport, Options};

/// Written by `Export-Csv` instead of a list, whose values are lost.
const LOST_LIST: &str = "System.String[]";

/// All counts so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    pub sent: Counted,
    /// Messages sent, each counted once regardless of its number of recipients, if `sent` counts
    /// copies.
    pub sent_unique: Option<u64>,
    pub received: Counted,
    /// Messages by hour of the day.
    pub hours: [u64; 24],
    /// Days with any counted message.
    pub days: BTreeSet<Date>,
    /// Addresses that sent or received something.
    pub mailboxes: BTreeSet<String>,
    /// Exchange's internal mailboxes that were left out, except those of its probes.
    pub system: BTreeSet<String>,
    /// Counted rows without a message id, of which repetitions cannot be recognised.
    pub without_id: u64,
    /// `true` if recipients were exported without their addresses.
    pub has_lost_lists: bool,
    /// Marks of counted rows, so that each counts once.
    rows: BTreeSet<[u64; 2]>,
}

/// Messages and their lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub messages: u64,
    pub bytes: u64,
}

impl Counted {
    pub(super) fn add(&mut self, times: u64, bytes: u64) {
        self.messages += times;
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(times));
    }
}

/// Who received a message.
struct Recipients {
    users: Vec<String>,
    /// Number of recipients, which are not all in `users` if the export lost their addresses.
    count: u64,
}

impl Traffic {
    /// Adds one log with dates in the order `dates`.
    pub(super) fn read(
        &mut self,
        mut sheet: Sheet<'_>,
        report: &mut FileReport,
        (options, dates): (&Options, DateOrder),
    ) {
        while let Some(row) = sheet.next() {
            report.rows += 1;
            if let Err(bad) = row.and_then(|row| self.row(row, report, (options, dates))) {
                report.bad(bad);
            }
        }
    }

    fn row(
        &mut self,
        row: SheetRow<'_>,
        report: &mut FileReport,
        (options, dates): (&Options, DateOrder),
    ) -> Result<(), BadRow> {
        let event = row.text("event-id");
        let from_store = row.text("source").eq_ignore_ascii_case("STOREDRIVER");
        let sent = event.eq_ignore_ascii_case("RECEIVE");
        if !from_store || !(sent || event.eq_ignore_ascii_case("DELIVER")) {
            report.leave_out("another event");
            return Ok(());
        }
        let recipients = self.recipients(row);
        if let Some(reason) = self.not_counted(row, sent, &recipients) {
            report.leave_out(reason);
            return Ok(());
        }
        let (day, hour) = when(row, report.kind, options, dates)?;
        if options.working_days_only && !day.is_working_day() {
            report.leave_out("not a working day");
            return Ok(());
        }
        let bytes = row.count("total-bytes")?;
        let times = if sent { 1 } else { recipients.count };
        if times == 0 {
            return Err(row.bad(recipient_column(row), "one address or more"));
        }
        if !self.is_new(row) {
            report.leave_out("counted already");
            return Ok(());
        }
        report.saw(&day.to_string());
        self.days.insert(day);
        self.hours[hour] += times;
        if sent {
            self.sent.add(times, bytes);
            self.mailboxes.extend(Some(sender(row)).filter(|sender| !sender.is_empty()));
        } else {
            self.received.add(times, bytes);
            self.mailboxes.extend(recipients.users);
        }
        Ok(())
    }

    /// The recipients that are users. System mailboxes are added to `system`, except those of
    /// probes.
    fn recipients(&mut self, row: SheetRow<'_>) -> Recipients {
        let text = row.text(recipient_column(row));
        if text == LOST_LIST {
            self.has_lost_lists = true;
            let count = row.count("recipient-count").unwrap_or(0);
            return Recipients { users: Vec::new(), count };
        }
        let addresses = text.split(';').map(|address| address.trim().to_lowercase());
        let (system, users): (Vec<String>, Vec<String>) = addresses
            .filter(|address| !address.is_empty())
            .partition(|address| of_name(address).is_some());
        self.system.extend(system.into_iter().filter(|address| of_name(address) != Some(HEALTH)));
        Recipients { count: users.len() as u64, users }
    }

    /// Why a message is no user's load; `None` if it is.
    fn not_counted(
        &mut self,
        row: SheetRow<'_>,
        sent: bool,
        recipients: &Recipients,
    ) -> Option<&'static str> {
        let message = row.text("message-id").trim_end_matches('>');
        if message.ends_with("journal.report.generator") {
            return Some("a journal report");
        }
        let sender = sender(row);
        if let Some(reason) = of_name(&sender).filter(|reason| sent || *reason == HEALTH) {
            self.system.extend(Some(sender).filter(|_| reason != HEALTH));
            return Some(reason);
        }
        let first = row.text(recipient_column(row)).split(';').find_map(of_name);
        first.filter(|reason| recipients.count == 0 && (!sent || *reason == HEALTH))
    }

    /// Whether the row was not counted before. A row without a message id may equal another by
    /// chance.
    fn is_new(&mut self, row: SheetRow<'_>) -> bool {
        let ids = ["internal-message-id", "message-id"].map(|column| row.text(column));
        if ids.iter().all(|id| id.is_empty()) {
            self.without_id += 1;
            return true;
        }
        let when = row.text(time_column(row));
        let of = ["server-hostname", "server-ip", "event-id", "total-bytes"];
        let rest = of.map(|column| row.text(column));
        let recipients = row.text(recipient_column(row));
        self.rows.insert(mark(&(when, ids, rest, recipients)))
    }
}

/// A mark that two different values do not share by chance.
pub(super) fn mark(value: &(impl std::hash::Hash + ?Sized)) -> [u64; 2] {
    [0_u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        value.hash(&mut hasher);
        hasher.finish()
    })
}

/// Logs and exports name some columns differently.
fn recipient_column(row: SheetRow<'_>) -> &'static str {
    if row.has("recipient-address") { "recipient-address" } else { "Recipients" }
}

fn time_column(row: SheetRow<'_>) -> &'static str {
    if row.has("date-time") { "date-time" } else { "Timestamp" }
}

fn sender(row: SheetRow<'_>) -> String {
    let column = if row.has("sender-address") { "sender-address" } else { "Sender" };
    row.text(column).trim_matches(['<', '>']).to_lowercase()
}

/// Logs are in UTC; exports use the shell's local time.
fn when(
    row: SheetRow<'_>,
    kind: LogKind,
    options: &Options,
    dates: DateOrder,
) -> Result<(Date, usize), BadRow> {
    let column = time_column(row);
    let text = row.text(column);
    if kind == LogKind::TrackingExport {
        return local_moment(text, dates)
            .ok_or_else(|| row.bad(column, "a moment such as 11/25/2026 9:01:02 AM"));
    }
    moment(text, options.utc_offset_hours)
        .ok_or_else(|| row.bad(column, "a moment such as 2026-11-20T09:15:00.123Z"))
}
