//! Role-requirements arithmetic: from mailboxes to servers, databases and disks.
//!
//! Everything here is a pure function of a deployment. Each constant and formula names its source.

pub mod export;
pub mod layout;
pub mod profile;
pub mod provision;
