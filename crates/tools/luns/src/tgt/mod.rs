//! The target program `tgt`: what it says of itself, the requests that change it, and the steps
//! from what is there to what is wanted.
//!
//! Its own tools put secrets on command lines, which every user of the machine can read: `tgtadm`
//! takes them there, and `tgt-admin` calls it. So requests are made here, and go to its control
//! socket.

mod live;
mod request;
mod steps;

pub use live::{LiveLun, LiveTarget, TgtLive};
pub use request::{RESPONSE_BYTES, TgtFault, TgtRequest, answer_bytes};
pub use steps::{Revision, TgtConflict, TgtStep, WantedLuns, removal, steps};
