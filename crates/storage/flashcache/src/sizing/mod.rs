//! Sizes a cache from a trace before any flash is bought: the hit ratio over cache sizes. The
//! policy is that of the cache itself.

mod advice;
mod curve;
mod warm_up;

use iotrace as trace;

pub use advice::{NoCacheReason, SizeAdvice};
pub use curve::{CurveOptions, CurvePoint, MissRatioCurve};
pub use iotrace::{Trace, TraceError, TraceFormat, TraceRequest};
pub use warm_up::{RatePoint, WarmUpPoint, warm_up};
