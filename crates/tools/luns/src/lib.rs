//! LUNs over iSCSI for mail servers: which there are to be, who reaches them, what is wrong with
//! that, and the steps from what is there to what is wanted.
//!
//! Nothing here opens a file or a socket. A [`LunDesign`] is made from a document; [`tgt::steps`]
//! compares it with what a target says of itself and with the [`LunState`] that earlier steps left,
//! which is all that proves whose a target or a file is.

mod design;
mod initiator;
mod lio;
mod rules;
mod secret;
mod state;
pub mod tgt;
mod windows;

#[cfg(test)]
mod tests;

pub use design::{DesignError, DesignedLun, LunDesign, MappedLun, Numbers, Target};
pub use initiator::{InitiatorSystem, connect_script, rescan};
pub use lio::saved_configuration;
pub use rules::{LunFinding, LunSeverity, check};
pub use secret::{InitiatorSecrets, SECRET_BYTES, SecretFault, SecretFile, made_secret};
pub use state::{AccountMark, FileProof, LunRecord, LunState, StateFault};
pub use windows::{WindowsFault, target_script};
