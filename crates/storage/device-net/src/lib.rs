//! Block devices over a network: exports of NBD servers and LUNs of iSCSI targets, to be tested
//! before any system attaches them.
//!
//! The protocol clients are implemented here, since completions must arrive at the reactor of the
//! requesting thread: one thread sends, one receives, and the reactor is notified through
//! [`device::Remote`].

mod iscsi;
mod line;
mod nbd;
mod transport;
mod uri;

pub use iscsi::codec as iscsi_codec;
pub use iscsi::{
    Authentication, ChapLogin, ChapSecret, DiscoveredTarget, IscsiAddress, IscsiError,
    IscsiInitiator, IscsiPortal, IscsiSearch, Lun, LunCaching, LunCapacity, LunIdentity,
    SecretError, WriteAnswer, connect_lun, discover, read_foreign,
};
pub use nbd::{NbdAddress, NbdError, connect};
