//! Archives with bytes that depend only on their content: sorted names, one time for all, no owner
//! from the build machine.

pub(super) mod ar;
pub(super) mod gzip;
pub(super) mod tar;
pub(super) mod zip;
