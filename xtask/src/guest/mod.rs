//! QEMU machines without hardware virtualisation: disks and volumes as a guest sees them.

mod attached;
mod cached;
mod caches;
mod compared;
mod content;
mod image;
mod machine;
mod moved;
mod program;
mod tools;

pub(crate) use attached::attached;
pub(crate) use cached::{cached, cached_in_shared_memory};
pub(crate) use caches::caches;
pub(crate) use compared::compared;
pub(crate) use moved::moved;
