//! Which ids of redundant routers and load balancers are taken on a segment, and which clash: VRRP,
//! CARP and HSRP, read from frames that pass by. Nothing is ever sent.
//!
//! A backup that hears its master is silent, so what is not seen may be there still.

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
