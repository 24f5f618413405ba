//! Archives whose bytes follow from their content alone: sorted names, one time for all, no owner
//! of the machine that made them.

pub(super) mod ar;
pub(super) mod gzip;
pub(super) mod tar;
pub(super) mod zip;
