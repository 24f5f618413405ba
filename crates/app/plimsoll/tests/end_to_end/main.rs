//! The real program in scratch folders: commands as typed, their output, and the files they leave.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends at the first surprise, and says aloud what it skips"
)]

mod allowance;
mod answers;
#[cfg(target_os = "linux")]
mod attached;
mod bad_input;
mod broken;
mod builds;
#[cfg(target_os = "linux")]
mod cached;
mod caches;
mod captures;
mod check;
mod compare;
mod compressed;
mod contract;
mod controllers;
mod damage;
mod deployments;
mod dirty;
mod engine_rows;
mod evidence;
mod examples;
#[cfg(unix)]
mod exports;
mod flash_caches;
mod fleets;
mod foreign;
mod full;
mod genuine_logs;
mod identity;
mod import;
mod imported;
mod inspected;
mod introduced;
mod journey;
#[cfg(unix)]
mod layout;
mod lies;
mod limits;
mod limits_runtime;
mod line;
mod load_profile;
#[cfg(target_os = "linux")]
mod luns;
#[cfg(target_os = "linux")]
mod mirrored;
mod mount;
mod narrow;
mod odd_files;
mod others;
mod outputs;
#[cfg(unix)]
mod pages;
mod papers;
mod plan;
mod profile;
mod races;
mod raw;
mod readings;
mod recover;
mod replays;
mod reserved;
mod resumed;
mod salvage;
mod samples;
mod scan;
mod scene;
mod schema;
mod sealed;
mod selftest;
mod serve;
mod sets;
mod sign_in;
mod signals;
mod simulated;
mod size;
mod slow_log;
mod stalls;
mod support;
mod sweeps;
mod threads;
#[cfg(target_os = "linux")]
mod throttled;
mod verbs;
mod watch;
#[path = "../wine/mod.rs"]
mod wine;
