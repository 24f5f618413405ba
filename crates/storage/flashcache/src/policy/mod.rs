//! Admission and eviction: pure functions of requests and time, shared by the store on real flash,
//! by simulated arrays and by the miss-ratio curves of traces.

mod budget;
mod classify;
mod ghost;
mod log_writes;
pub(crate) mod rules;
mod s3fifo;
mod shadow;
mod shares;
mod streams;

pub(crate) use budget::WriteBudget;
pub use classify::{Classifier, IoDirection, RequestClass, Route};
pub(crate) use ghost::Ghost;
pub(crate) use s3fifo::S3Fifo;
pub use shadow::{ClassCounters, ShadowCache, ShadowRead};
pub use shares::PoolShare;
