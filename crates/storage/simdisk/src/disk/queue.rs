//! Chooses which of a disk's waiting requests is served next.

use serde::{Deserialize, Serialize};

/// The order in which a disk serves its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueuePolicy {
    /// First come, first served.
    Fifo,
    /// The nearest one further in; after the innermost, back to the outermost.
    CLook,
    /// The request that can start first, seek and rotation combined; long waits count as shorter
    /// distances.
    #[default]
    Satf,
}

/// Milliseconds of positioning that a millisecond of waiting outweighs, so that no request starves:
/// one that has waited for 100 ms is served before one that is 10 ms nearer.
const AGEING: f64 = 0.1;

impl QueuePolicy {
    /// The index of the next request of a non-empty window. `stroke_of` returns a request's
    /// position, `cost_of` its cost.
    pub(super) fn choose<T>(
        self,
        window: &[T],
        stroke: f64,
        stroke_of: impl Fn(&T) -> f64,
        cost_of: &impl QueuedCost<T>,
    ) -> usize {
        match self {
            Self::Fifo => 0,
            Self::CLook => lowest(window, |request| {
                let ahead = stroke_of(request) - stroke;
                if ahead < 0.0 { ahead + 2.0 } else { ahead }
            }),
            Self::Satf => soonest(window, cost_of),
        }
    }
}

/// Cost of a queued request if it started now, and its wait so far. In milliseconds.
pub(super) trait QueuedCost<T> {
    /// Time until the request can begin.
    fn positioning(&self, request: &T) -> f64;

    /// A lower bound of `positioning` that is cheaper to compute.
    fn least_positioning(&self, request: &T) -> f64;

    /// Time since the request arrived.
    fn waited(&self, request: &T) -> f64;
}

/// The index of the request that can start first, allowing for its age. Most are so far away that
/// their rotation need not be computed.
fn soonest<T>(window: &[T], cost: &impl QueuedCost<T>) -> usize {
    let (mut soonest, mut chosen) = (f64::INFINITY, 0);
    for (index, request) in window.iter().enumerate() {
        let aged = AGEING * cost.waited(request);
        if cost.least_positioning(request) - aged > soonest {
            continue;
        }
        let positioning = cost.positioning(request) - aged;
        if positioning < soonest {
            (soonest, chosen) = (positioning, index);
        }
    }
    chosen
}

/// The index of the request that costs least.
fn lowest<T>(window: &[T], cost: impl Fn(&T) -> f64) -> usize {
    let costs = window.iter().map(cost).enumerate();
    costs.min_by(|one, two| one.1.total_cmp(&two.1)).map_or(0, |(index, _)| index)
}
