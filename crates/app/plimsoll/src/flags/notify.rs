//! Notification flags: a command at the end, or a program that reads along.

use clap::Args;

use super::Verb;

/// Actions once the verdict is final.
#[derive(Args, Debug)]
pub(crate) struct NotifyFlags {
    /// Shell command to run when the run ends, whatever the outcome. In its environment are
    /// `PLIMSOLL_EXIT_STATUS`, `_VERDICT`, `_HEADLINE`, `_RUN` (the folder), `_NAME` and
    /// `_REPORT`; it changes nothing about the exit status
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
}

impl Verb {
    /// The command to run at the end.
    pub(crate) fn notify(&self) -> Option<&str> {
        let at_end = match self {
            Self::Quick(flags) => &flags.at_end,
            Self::Run(flags) => &flags.at_end,
            Self::Line(flags) => &flags.at_end,
            Self::Watch(flags) => &flags.at_end,
            _ => return None,
        };
        at_end.notify.as_deref()
    }
}

/// Whether the command line asks for JSON, detected before it is parsed, since errors in
/// it are reported in JSON too.
pub(crate) fn ask_for_json() -> bool {
    let mut words = std::env::args_os().take_while(|word| word != "--");
    words.any(|word| word == "--json")
}
