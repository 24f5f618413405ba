//! `serve`: the runs of a folder in a browser, until Ctrl-C.

mod local;
mod place;
mod questions;

use std::time::Duration;

use serve::{OtlpPush, OtlpTarget, Ready, ServeSettings};

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::ServeFlags;
use crate::signals::StopFlag;

use local::LocalRuns;

/// The variable that holds what a collector wants in front of metrics, such as a key.
const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Serves until a signal asks to stop.
pub(crate) fn run(flags: &ServeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let stop = StopFlag::install("stopping; a run that was started here goes on")?;
    let headers = std::env::var(OTLP_HEADERS).unwrap_or_default();
    let target = flags.otlp.as_ref().map(|address| OtlpTarget::parse(address, &headers));
    let target = target.transpose().map_err(|error| CommandError::usage(error.to_string()))?;
    let settings = ServeSettings {
        folder: flags.folder.clone(),
        address: flags.listen,
        host_names: flags.host.clone(),
        history: place::of_history(&flags.folder),
        otlp: target.map(|target| OtlpPush {
            target,
            pace: Duration::from_nanos(flags.otlp_interval.0),
            tls: sign_in::system_trust(),
        }),
    };
    let mut told = Ok(());
    serve::serve(
        settings,
        Box::new(LocalRuns::default()),
        |ready| told = tell(&ready, console),
        || stop.is_set(),
    )?;
    told.map(|()| Outcome::Pass)
}

/// Where to look, with the token that only this terminal shows.
fn tell(ready: &Ready<'_>, console: &mut Console) -> Result<(), CommandError> {
    let Ready { address, token, no_history } = ready;
    console.answer(format_args!("http://{address}/?token={}", token.digits()))?;
    console
        .remark("Open it in a browser; Ctrl-C ends. Without the token nothing can be changed.")?;
    if !address.ip().is_loopback() {
        console.remark(
            "Others can reach this address, and a reader of the traffic reads the token: there \
             is no TLS. Use it in a network that you trust, or through a tunnel.",
        )?;
    }
    if let Some(why) = no_history {
        console
            .remark(format_args!("{why}; the next start will have to read every journal again"))?;
    }
    console.flush()
}
