//! Flags of `profile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use profile::load::TraceStart;
use units::Bytes;

use console::args::{mailboxes, size};

/// Heading of the sign-in flags in the help.
const SIGN_IN: &str = "Sign-in to Microsoft 365";

/// Flags of `profile`.
#[derive(Args, Debug)]
pub struct ProfileFlags {
    /// Message tracking logs, message profiles, hourly log counts, mailbox statistics, usage and
    /// activity reports of Microsoft 365; or, for the load over the day, counter logs as CSV
    /// (relog, typeperf), blkparse text and fio iologs; recognised by their headers
    #[arg(required_unless_present = "sign_in", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sign_in: SignInFlags,
    /// Mailboxes [default: the number in the files]
    #[arg(long, value_name = "N", value_parser = mailboxes)]
    pub(crate) mailboxes: Option<u64>,
    /// Largest size of a mailbox, such as 2GiB [default: the quotas, or the largest mailbox]
    #[arg(long, value_parser = size)]
    pub(crate) size_limit: Option<Bytes>,
    /// Average length of a message, such as 75KiB [default: as measured]
    #[arg(long, value_parser = size)]
    pub(crate) average_message: Option<Bytes>,
    /// Include Saturdays and Sundays
    #[arg(long)]
    pub(crate) all_days: bool,
    /// Hours by which local time is ahead of UTC, for tracking logs
    #[arg(long, value_name = "H", default_value = "0", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-12..=14))]
    pub(crate) utc_offset: i32,
    /// Clock at the start of block traces, such as 2026-11-20T09:00
    #[arg(long, value_name = "DATETIME")]
    pub(crate) trace_start: Option<TraceStart>,
    /// Count only this database, volume or device; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// File to write [default: the standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Ways to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignInWay {
    /// In a browser on this machine
    Browser,
    /// In a browser anywhere, with a code to type; many tenants block this
    Device,
    /// With the application's certificate, without a user
    Certificate,
}

/// Flags of `profile --sign-in`.
#[derive(Args, Debug)]
pub(crate) struct SignInFlags {
    /// Sign in to Microsoft 365 and fetch its two usage reports. Tokens stay in memory and are
    /// wiped at the end; downloaded files give the same without signing in
    #[arg(long, value_name = "WAY", help_heading = SIGN_IN)]
    pub(crate) sign_in: Option<SignInWay>,
    /// Id of the application registered with the tenant
    #[arg(long, value_name = "ID", requires = "sign_in", help_heading = SIGN_IN)]
    pub(crate) client: Option<String>,
    /// Name or id of the tenant, such as contoso.com [default: that of the user who signs in]
    #[arg(long, value_name = "NAME", requires = "sign_in", help_heading = SIGN_IN)]
    pub(crate) tenant: Option<String>,
    /// Certificate of the application, in PEM; its key is there too, or in the environment
    /// variable `PLIMSOLL_CERTIFICATE_KEY`
    #[arg(long, value_name = "FILE", requires = "sign_in", help_heading = SIGN_IN)]
    pub(crate) certificate: Option<PathBuf>,
    /// Days that the reports cover: 7, 30, 90 or 180
    #[arg(long, value_name = "N", default_value = "30", value_parser = report_days,
          help_heading = SIGN_IN)]
    pub(crate) days: u8,
    /// Another provider, such as that of a national cloud: the address
    /// before /.well-known/openid-configuration
    #[arg(long, value_name = "URL", requires = "sign_in", conflicts_with = "tenant",
          help_heading = SIGN_IN)]
    pub(crate) authority: Option<String>,
    /// Another Microsoft Graph, such as that of a national cloud
    #[arg(long, value_name = "URL", default_value = "https://graph.microsoft.com",
          help_heading = SIGN_IN)]
    pub(crate) graph: String,
}

/// Parses a report period that Microsoft Graph supports.
fn report_days(text: &str) -> Result<u8, String> {
    let known = ["7", "30", "90", "180"].contains(&text);
    let days = text.parse().ok().filter(|_| known);
    days.ok_or_else(|| "give 7, 30, 90 or 180".to_owned())
}
