//! Identifies the program: release, commit and date, as printed by `--version` and stored in
//! records.

/// Release, commit and day of the commit, such as `0.1.0 (3adeb94f6a25 2026-11-27)`.
pub const VERSION: &str = env!("PLIMSOLL_VERSION");

/// The same with the program's name, as records keep it.
pub const PROGRAM: &str = concat!("plimsoll ", env!("PLIMSOLL_VERSION"));

/// Day of the commit, such as `2026-11-27`; empty in a development build.
pub const DATE: &str = env!("PLIMSOLL_DATE");

/// Output of `--version`; `-V` prints only its first line.
pub const LONG_VERSION: &str = concat!(
    env!("PLIMSOLL_VERSION"),
    "\nTarget:   ",
    env!("PLIMSOLL_TARGET"),
    ", C library ",
    env!("PLIMSOLL_LINKAGE"),
    "\nFeatures: ",
    env!("PLIMSOLL_FEATURES")
);
