//! The live run as server-sent events: its state once a second, and its end.

use std::convert::Infallible;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream};
use serde_json::{Value, json};

use super::{beside, missing};
use crate::answers::{NoAnswer, refusal};
use crate::clock::epoch_ns;
use crate::live::{Given, snapshot};
use crate::pages::address;
use crate::runs::ServedRuns;
use crate::search;

/// Interval between two events.
const PACE: Duration = Duration::from_secs(1);

/// Pages that may watch at the same time; each costs one read of the journal per second.
const MOST_WATCHERS: usize = 32;

/// Time within which the next load of a search for the load line begins, if there is one.
const BETWEEN_LOADS: Duration = Duration::from_secs(10);

static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// One watching page, counted while it is connected.
struct Watcher {
    runs: ServedRuns,
    id: String,
    given: Given,
    ended: Option<Instant>,
    is_first: bool,
    has_ended: bool,
}

/// Result of checking a run.
enum Sight {
    /// It is in progress.
    Live(Value),
    /// Nothing to show yet; check again.
    Nothing,
    /// It has ended; contains the address to go to next.
    Ended(String),
}

impl Drop for Watcher {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The stream of a run.
pub(super) async fn events(
    State(runs): State<ServedRuns>,
    Path(id): Path<String>,
) -> Result<Response, NoAnswer> {
    let asked = (runs.clone(), id.clone());
    if beside(move || asked.0.find(&asked.1)).await?.is_none() {
        return Err(missing("No such run lies in this folder."));
    }
    if WATCHERS.fetch_add(1, Ordering::Relaxed) >= MOST_WATCHERS {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
        let text = "Too many pages watch runs; close some.";
        return Err(refusal(StatusCode::SERVICE_UNAVAILABLE, text));
    }
    let watcher = Watcher {
        runs,
        id,
        given: Given::default(),
        ended: None,
        is_first: true,
        has_ended: false,
    };
    Ok(Sse::new(watched(watcher)).into_response())
}

fn watched(watcher: Watcher) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(watcher, async |mut watcher: Watcher| {
        if watcher.has_ended {
            return None;
        }
        if !watcher.is_first {
            tokio::time::sleep(PACE).await;
        }
        watcher.is_first = false;
        let (mut watcher, sight) = tokio::task::spawn_blocking(move || {
            let sight = watcher.look();
            (watcher, sight)
        })
        .await
        .ok()?;
        let event = match sight {
            Sight::Live(shown) => Event::default().data(shown.to_string()),
            Sight::Nothing => Event::default().comment("nothing yet"),
            Sight::Ended(place) => {
                watcher.has_ended = true;
                Event::default().event("end").data(json!({ "place": place }).to_string())
            }
        };
        Some((Ok(event), watcher))
    })
}

impl Watcher {
    /// State of the run.
    fn look(&mut self) -> Sight {
        let Some(run) = self.runs.find_live(&self.id) else {
            return self.behind();
        };
        let loads = search::loads(&self.id, &self.runs.known());
        let tail = self.runs.tail(&run);
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.follow();
        let Some(record) = tail.record() else {
            return Sight::Nothing;
        };
        let mut shown = snapshot(record, epoch_ns(), self.given);
        shown["loads"] = loads;
        self.given = Given::all_of(record);
        Sight::Live(shown)
    }

    /// Next address when the run has ended: the next load of its search, or its report.
    fn behind(&mut self) -> Sight {
        if let Some(next) = search::live_load(&self.id, &self.runs.all()) {
            return Sight::Ended(format!("/live/{}", address(&next)));
        }
        let ended = *self.ended.get_or_insert_with(Instant::now);
        if search::is_load(&self.id) && ended.elapsed() < BETWEEN_LOADS {
            return Sight::Nothing;
        }
        Sight::Ended(format!("/run/{}", address(&self.id)))
    }
}
