//! `serve`: the runs of a folder in a browser, until Ctrl-C.

pub(crate) mod flags;
mod guide;
mod local;
mod place;
mod questions;
mod reachable;
mod token;

use std::time::Duration;

use serve::{OtlpPush, OtlpTarget, Ready, ServeSettings};

use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::signals;
use flags::ServeFlags;

use local::LocalRuns;

/// Variable with the headers that a collector requires, such as a key.
const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Serves until a signal asks to stop.
pub(crate) fn run(flags: &ServeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let stop = signals::install("Server stopped; a run that was started here continues.")?;
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
        token: Some(token::of_changes(flags)?),
        metrics_token: token::of_metrics(flags)?,
    };
    let mut told = Ok(());
    serve::serve(
        settings,
        Box::new(LocalRuns::with_caches(&flags.cache)),
        &mut |ready| told = tell(&ready, flags, console),
        &|| stop.is_set(),
    )?;
    told.map(|()| Outcome::Pass)
}

/// Prints the address, with the token that only this terminal shows.
fn tell(ready: &Ready<'_>, flags: &ServeFlags, console: &mut Console) -> Result<(), CommandError> {
    let Ready { address, token, no_history } = ready;
    let place = reachable::from_elsewhere(*address, &flags.host);
    // Not folded, so that it stays clickable in a terminal.
    console.answer_text(&format!("http://{place}/?token={}\n", token.digits()))?;
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
