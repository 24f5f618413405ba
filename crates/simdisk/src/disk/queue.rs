//! Which of the requests that wait for a disk is served next.

use serde::{Deserialize, Serialize};

use super::{MediaRequest, VirtualMoment};

/// The order in which a disk serves its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePolicy {
    /// First come, first served.
    Fifo,
    /// The nearest one further in; from the innermost back to the outermost.
    CLook,
    /// What can be begun first, seek and rotation together; what has waited for long comes nearer.
    #[default]
    Satf,
}

/// How many milliseconds of positioning a millisecond of waiting outweighs, so that nothing waits
/// for ever: a request that has waited for 100 ms is served before one that is 10 ms nearer.
const AGEING: f64 = 0.1;

impl QueuePolicy {
    /// The index of the next request of a window that is not empty. `stroke_of` says where a
    /// request lies, `positioning` how many milliseconds pass until it can be begun.
    pub(super) fn choose(
        self,
        window: &[MediaRequest],
        now: VirtualMoment,
        stroke: f64,
        stroke_of: impl Fn(&MediaRequest) -> f64,
        positioning: impl Fn(&MediaRequest) -> f64,
    ) -> usize {
        match self {
            Self::Fifo => 0,
            Self::CLook => lowest(window, |request| {
                let ahead = stroke_of(request) - stroke;
                if ahead < 0.0 { ahead + 2.0 } else { ahead }
            }),
            Self::Satf => lowest(window, |request| {
                let waited = now.saturating_sub(request.arrived) as f64 / 1e6;
                positioning(request) - AGEING * waited
            }),
        }
    }
}

/// The index of the request that costs least.
fn lowest(window: &[MediaRequest], cost: impl Fn(&MediaRequest) -> f64) -> usize {
    let costs = window.iter().map(cost).enumerate();
    costs.min_by(|one, two| one.1.total_cmp(&two.1)).map_or(0, |(index, _)| index)
}
