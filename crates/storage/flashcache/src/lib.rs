//! A cache of block volumes on flash.
//!
//! [`Cached`] is a [`device::Device`] in front of another one: reads come from flash if they can,
//! writes go to the backing volume before they are acknowledged (write-through). [`CacheStore`]
//! keeps the blocks and survives crashes warm; `policy` decides which ones to keep. No sockets, no
//! clock, no threads.

mod cached;
mod policy;
mod signal;
mod sizing;
mod stamp;
mod store;

pub use cached::{Cached, CachedVolume, FlashCache};
pub use policy::{
    ClassCounters, Classifier, IoDirection, PoolShare, RequestClass, Route, ShadowCache, ShadowRead,
};
pub use sizing::{
    CurveOptions, CurvePoint, MissRatioCurve, NoCacheReason, RatePoint, SizeAdvice, Trace,
    TraceError, TraceFormat, TraceRequest, WarmUpPoint, warm_up,
};
pub use stamp::volume_stamp;
pub use store::{
    CacheHealth, CacheStore, ExamineDepth, FormatOptions, Recovery, StoreContents, StoreCounters,
    StoreError, StoreStatus, StoredVolume, VolumeStatus, examine, format,
};
