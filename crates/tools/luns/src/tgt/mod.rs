//! The target program `tgt`: the state it reports, the requests that change it, and the steps from
//! the present state to the desired one.
//!
//! Its tools put secrets on command lines, which every user of the machine can read: `tgtadm` takes
//! them as arguments, and `tgt-admin` calls `tgtadm`. So requests are built here and sent to the
//! control socket of `tgtd`.

mod live;
mod request;
mod steps;

pub use live::{LiveLun, LiveTarget, TgtLive};
pub use request::{RESPONSE_BYTES, TgtFault, TgtRequest, answer_bytes};
pub use steps::{Revision, TgtConflict, TgtStep, WantedLuns, removal, steps};
