//! `watch` for a fleet run: its stage and its hosts as they change, then its verdict.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::LOOK;
use ::fleets::show;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::events;
use console::signals;
use fleets::progress::{FleetProgress, is_conducted};

/// Interval at which changed loads of hosts are shown.
const BETWEEN_LOADS: Duration = Duration::from_secs(5);

/// Follows the fleet run in `folder` to its end; the outcome is its verdict.
pub(super) fn run(
    folder: &Path,
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let stop = signals::install("no longer watching; the fleet run continues")?;
    let mut shown = FleetProgress::default();
    let mut loaded = Instant::now();
    loop {
        // Queried first, so that the last progress is shown.
        let is_conducted = is_conducted(folder);
        if let Some(progress) = FleetProgress::read(folder) {
            for news in progress.news_since(&shown) {
                tell(&news, json, console)?;
            }
            if loaded.elapsed() >= BETWEEN_LOADS && progress.hosts != shown.hosts {
                loaded = Instant::now();
                tell_loads(&progress, json, console)?;
            }
            shown = progress;
        }
        console.flush()?;
        if !is_conducted {
            return show::show(folder, json, console);
        }
        if stop.is_set() {
            return Ok(Outcome::CannotJudge);
        }
        thread::sleep(LOOK);
    }
}

fn tell(news: &str, json: bool, console: &mut Console) -> Result<(), CommandError> {
    if json {
        let event = events::now("fleet_progress", json!({ "text": news }));
        return console.answer_json_line(&event.to_string());
    }
    console.answer(news)
}

/// Prints the load of every host.
fn tell_loads(
    progress: &FleetProgress,
    json: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    if json {
        let event = events::now("fleet_loads", json!({ "hosts": progress.hosts_json() }));
        return console.answer_json_line(&event.to_string());
    }
    progress.loads().iter().try_for_each(|load| console.answer(load))
}
