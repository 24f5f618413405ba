//! The kinds of files, recognised by their headers: file names and column orders differ between
//! administrators and releases.

use std::fmt;

/// Kind of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// A message tracking log of a transport server.
    MessageTracking,
    /// `Get-MessageTrackingLog | Export-Csv`.
    TrackingExport,
    /// Output of the script `email_stats`: messages per user and day.
    EmailStats,
    /// Output of `Generate-MessageProfile.ps1`.
    MessageProfile,
    /// Output of `GetLogFileUsage.ps1`: log files per database and hour.
    LogFilesByHour,
    /// Output of `GetTransactionLogStats.ps1`: log files per hour.
    LogHours,
    /// `Get-MailboxStatistics | Export-Csv`.
    MailboxStatistics,
    /// Mailbox usage detail of Microsoft 365.
    MailboxUsage,
    /// E-mail activity detail of Microsoft 365.
    EmailActivity,
}

impl LogKind {
    /// Every kind, the more specific before the more general.
    pub(crate) const ALL: [Self; 9] = [
        Self::MessageTracking,
        Self::TrackingExport,
        Self::EmailStats,
        Self::MessageProfile,
        Self::LogFilesByHour,
        Self::LogHours,
        Self::MailboxUsage,
        Self::EmailActivity,
        Self::MailboxStatistics,
    ];

    /// Headers that a file of this kind must have.
    pub(crate) const fn needed(self) -> &'static [&'static str] {
        match self {
            Self::MessageTracking => {
                &["date-time", "source", "event-id", "total-bytes", "recipient-address"]
            }
            Self::TrackingExport => &["Timestamp", "Source", "EventId", "TotalBytes", "Recipients"],
            Self::EmailStats => &[
                "Date",
                "User",
                "Domain",
                "Sent Total",
                "Sent MB Total",
                "Received Total",
                "Received MB Total",
            ],
            Self::MessageProfile => {
                &["SiteName", "Mailboxes", "SentMsgs", "RcvdMsgs", "SentKB", "RcvdKB", "TotalDays"]
            }
            Self::LogFilesByHour => &["Server", "LogFolderPath", "Hour-00", "Hour-23"],
            Self::LogHours => &["Hour", "TotalLogsCreated"],
            Self::MailboxUsage => &["Storage Used (Byte)", "Item Count"],
            Self::EmailActivity => &["Send Count", "Receive Count", "Report Period"],
            Self::MailboxStatistics => &["TotalItemSize", "ItemCount"],
        }
    }
}

impl fmt::Display for LogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MessageTracking => "message tracking log",
            Self::TrackingExport => "message tracking (Get-MessageTrackingLog)",
            Self::EmailStats => "messages per user and day (email_stats)",
            Self::MessageProfile => "message profile (Generate-MessageProfile)",
            Self::LogFilesByHour => "log files by hour (GetLogFileUsage)",
            Self::LogHours => "log hours (GetTransactionLogStats)",
            Self::MailboxUsage => "Microsoft 365 mailbox usage",
            Self::EmailActivity => "Microsoft 365 e-mail activity",
            Self::MailboxStatistics => "mailbox statistics (Get-MailboxStatistics)",
        })
    }
}
