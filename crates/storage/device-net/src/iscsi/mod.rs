//! LUNs of iSCSI targets (RFC 7143), as an initiator sees them.

mod address;
mod agreed;
mod chap;
mod command;
mod connection;
mod device;
mod discovery;
mod error;
mod foreign;
mod login;
mod lun;
mod nonce;
mod outbox;
mod pdu;
mod scsi;
mod sense;
mod session;
mod shared_wire;
mod status;
mod text;

/// The encoding of PDUs and texts, shared with targets.
pub mod codec {
    pub use super::pdu::{
        CONTINUED, FINAL, HEAD_BYTES, Head, IMMEDIATE, NO_TAG, append, data_in, field, padding,
        request, response,
    };
    pub use super::text::{KeyText, binary, hex_value};
}

pub use address::{IscsiAddress, IscsiPortal, IscsiSearch};
pub use agreed::Authentication;
pub use chap::{ChapLogin, ChapSecret, SecretError};
pub use device::connect_lun;
pub use discovery::{DiscoveredTarget, discover};
pub use error::IscsiError;
pub use foreign::read_foreign;
pub use login::IscsiInitiator;
pub use lun::{Lun, WriteAnswer};
pub use scsi::{LunCaching, LunCapacity, LunIdentity};

#[cfg(test)]
#[cfg(unix)]
mod tests;
