//! LUNs over iSCSI for mail servers: their design and its problems, their initiators, and the steps
//! from the present state to the designed one.
//!
//! Nothing here opens a file or a socket. A [`LunDesign`] is made from a document; [`tgt::steps`]
//! compares it with the state that a target reports and with the [`LunState`] that earlier steps
//! left, which is the only proof of who owns a target or a file.

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
