//! Lists the ids of redundant routers and load balancers in use on a segment, and their clashes:
//! VRRP, CARP and HSRP, read from passing frames. Nothing is ever sent.
//!
//! A backup that hears its master is silent, so an unseen router may still exist.

mod advert;
mod capture;
mod checksum;
mod findings;
mod frame;
mod hsrp;
mod router;
mod segment;
mod source;
mod unread;
mod voices;
mod vrrp;
mod watch;

pub use advert::{Advert, GroupKey, Protocol};
pub use capture::{CaptureError, CaptureSummary, read_capture};
pub use findings::{GroupFinding, Problem};
pub use router::{MacKind, VirtualMac};
pub use segment::{Family, Segment};
pub use source::{Silent, Source};
pub use unread::Unread;
pub use watch::{Survey, Watch};
