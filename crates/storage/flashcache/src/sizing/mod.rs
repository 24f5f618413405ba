//! How large a cache should be: the hit ratio over cache sizes, from a trace, before any flash is
//! bought. The policy is the one that the cache runs.

mod advice;
mod curve;
mod warm_up;

use iotrace as trace;

pub use advice::{NoCacheReason, SizeAdvice};
pub use curve::{CurveOptions, CurvePoint, MissRatioCurve};
pub use iotrace::{Trace, TraceError, TraceFormat, TraceRequest};
pub use warm_up::{RatePoint, WarmUpPoint, warm_up};
