//! The live run as server-sent events: where it stands once a second, and its end.

use std::convert::Infallible;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream};
use serde_json::Value;

use super::{beside, epoch_ns, missing};
use crate::answers::{NoAnswer, refusal};
use crate::live::snapshot;
use crate::runs::ServedRuns;

/// Between two events.
const PACE: Duration = Duration::from_secs(1);

/// Pages that may watch at the same time; each costs a look at the journal a second.
const MOST_WATCHERS: usize = 32;

static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// One page that watches, counted for as long as it is there.
struct Watcher {
    runs: ServedRuns,
    id: String,
    next: usize,
    is_first: bool,
    has_ended: bool,
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
    let watcher = Watcher { runs, id, next: 0, is_first: true, has_ended: false };
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
        let (mut watcher, shown) = tokio::task::spawn_blocking(move || {
            let shown = watcher.look();
            (watcher, shown)
        })
        .await
        .ok()?;
        watcher.has_ended = shown.is_none();
        let event = shown.map_or_else(
            || Event::default().event("end").data("{}"),
            |shown| Event::default().data(shown.to_string()),
        );
        Some((Ok(event), watcher))
    })
}

impl Watcher {
    /// Where the run stands; none where it has ended.
    fn look(&mut self) -> Option<Value> {
        let run = self.runs.find(&self.id).filter(|run| run.is_live)?;
        let tail = self.runs.tail(&run);
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.follow();
        let Some(record) = tail.record() else {
            return Some(Value::Null);
        };
        let shown = snapshot(record, epoch_ns(), self.next);
        self.next = record.intervals.len();
        Some(shown)
    }
}
