//! `serve`: the runs of a folder in a browser, until Ctrl-C.

mod local;
mod place;

use serve::{Ready, ServeSettings};

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::ServeFlags;
use crate::signals::StopFlag;

use local::LocalRuns;

/// Serves until a signal asks to stop.
pub(crate) fn run(flags: &ServeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let stop = StopFlag::install("stopping; a run that was started here goes on")?;
    let settings = ServeSettings {
        folder: flags.folder.clone(),
        address: flags.listen,
        host_names: flags.host.clone(),
        history: place::of_history(&flags.folder),
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
