//! The verbs that prepare volumes and offer them to others: inspect, format, cache and iSCSI.

pub mod cache;
pub mod format;
pub mod inspect;
pub mod iscsi;
mod layout;
