//! The two reports fetched from Microsoft Graph, the only part of Graph in use.

use std::time::Duration;

/// Both reports, as Microsoft Graph writes them: CSV.
#[derive(Debug)]
pub struct UsageReports {
    /// Size, number of items and quota of each mailbox.
    pub mailbox_usage: Vec<u8>,
    /// Number of messages that each user sent and received.
    pub email_activity: Vec<u8>,
}

/// One of the two reports.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UsageReport {
    MailboxUsage,
    EmailActivity,
}

/// Maximum number of retries of a request.
const MOST_RETRIES: u32 = 4;
/// The longest pause that is worth waiting for.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

impl UsageReport {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::MailboxUsage => "getMailboxUsageDetail",
            Self::EmailActivity => "getEmailActivityUserDetail",
        }
    }

    /// URL of the report below `graph`, the URL of Microsoft Graph.
    pub(crate) fn address(self, graph: &str, days: u16) -> String {
        let graph = graph.trim_end_matches('/');
        format!("{graph}/v1.0/reports/{}(period='D{days}')", self.name())
    }
}

/// Delay before the next attempt, after `retries` retries; `None` to give up.
pub(crate) fn pause(retries: u32, retry_after: Option<Duration>) -> Option<Duration> {
    if retries >= MOST_RETRIES {
        return None;
    }
    let usual = Duration::from_secs(1 << retries);
    let pause = retry_after.unwrap_or(usual).max(Duration::from_secs(1));
    (pause <= LONGEST_PAUSE).then_some(pause)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{UsageReport, pause};

    #[test]
    fn a_busy_server_is_asked_again_as_it_wishes() {
        let seconds = |pause: Option<Duration>| pause.map(|pause| pause.as_secs());
        let usual: Vec<_> = (0..5).map(|retries| seconds(pause(retries, None))).collect();
        assert_eq!(usual, [Some(1), Some(2), Some(4), Some(8), None]);
        let wished = |wish| seconds(pause(0, Some(Duration::from_secs(wish))));
        assert_eq!(
            [wished(0), wished(17), wished(300), wished(301)],
            [Some(1), Some(17), Some(300), None]
        );
    }

    #[test]
    fn reports_are_asked_for_by_name_and_days() {
        let address = UsageReport::MailboxUsage.address("https://g/", 30);
        assert_eq!(address, "https://g/v1.0/reports/getMailboxUsageDetail(period='D30')");
    }
}
