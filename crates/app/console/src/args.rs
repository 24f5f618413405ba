//! Flags that several verbs share, and the parsers of their values.

pub mod values;

use std::path::PathBuf;

use clap::Args;
use plan::Sessions;
use units::{Bytes, Nanos};

/// Actions once the verdict is final.
#[derive(Args, Debug)]
pub struct NotifyFlags {
    /// Shell command to run when the run ends, whatever the outcome. Its environment contains
    /// `PLIMSOLL_EXIT_STATUS`, `_VERDICT`, `_HEADLINE`, `_RUN` (the folder), `_NAME` and `_REPORT`;
    /// it cannot change the exit status
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
}

/// Flags that identify a run.
#[derive(Args, Debug)]
pub struct IdentityFlags {
    /// Name of the run, in its report and its folder [default: that of the plan]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// A word to find the run by; may be given several times
    #[arg(long = "tag", value_name = "TAG", value_parser = name)]
    pub tags: Vec<String>,
}

/// Flags of the verbs that record a run.
#[derive(Args, Debug)]
pub struct RecordedRunFlags {
    /// Its name and tags.
    #[command(flatten)]
    pub identity: IdentityFlags,
    /// Actions to take once the verdict is final.
    #[command(flatten)]
    pub at_end: NotifyFlags,
}

/// Flags of the verbs that read one database file.
#[derive(Args, Debug)]
pub struct FileFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Parses the name of a run, or a tag.
pub(crate) fn name(text: &str) -> Result<String, String> {
    plan::name_fault(text).map_or_else(|| Ok(text.to_owned()), |fault| Err(fault.to_owned()))
}

/// Parses a duration above 0.
pub fn duration(text: &str) -> Result<Nanos, String> {
    let duration = plan::parse_duration(text).filter(|duration| duration.0 > 0);
    duration.ok_or_else(|| "give a duration above 0, such as 90s, 45min or 2h".to_owned())
}

/// Parses a size below 16 EiB.
pub fn size(text: &str) -> Result<Bytes, String> {
    plan::parse_size(text)
        .ok_or_else(|| "give a size below 16 EiB, such as 512MiB or 10GiB".to_owned())
}

/// Parses the number of sessions per database, or `auto`.
pub fn sessions(text: &str) -> Result<Sessions, String> {
    if text == "auto" {
        return Ok(Sessions::Auto);
    }
    let count = text.parse().map(Sessions::Count);
    count.map_err(|_| "give a number of sessions, or auto".to_owned())
}

/// Parses a percentage above 0 and at most 100, with or without a `%`.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    let sound = number.filter(|number| *number > 0.0 && *number <= 100.0);
    sound.ok_or_else(|| "give a number above 0, at most 100".to_owned())
}

/// Parses the mailbox count of one deployment.
pub fn mailboxes(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| (1..=10_000_000).contains(count));
    count.ok_or_else(|| "give a whole number from 1 to 10000000".to_owned())
}
