//! Archives whose bytes depend only on their content: names are sorted, all times are equal, and no
//! owner comes from the build machine.

pub(super) mod ar;
pub(super) mod gzip;
pub(super) mod tar;
pub(super) mod zip;
