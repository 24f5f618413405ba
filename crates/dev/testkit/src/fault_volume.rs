//! A folder whose storage lies on purpose: the real program is run on it, through the kernel.
//!
//! [`FaultVolume::mount`] shows a backing folder at a mount point by FUSE, every request passed
//! through until a [`Rule`] matches it. Rules are switched while the volume is in use:
//!
//! ```no_run
//! # use testkit::fault_volume::{FaultVolume, Rule};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let volume = FaultVolume::mount("/scratch/backing".as_ref(), "/scratch/mount".as_ref())?;
//! volume.set(vec!["log write drop from=20 after=2s".parse::<Rule>()?]);
//! // ... run the program on /scratch/mount ...
//! assert!(volume.injected() > 0);
//! volume.set(Vec::new()); // Lets go of requests that hang, too.
//! # Ok(())
//! # }
//! ```
//!
//! A rule is `FILE ACCESS FAULT [from=N] [requests=N] [after=TIME]`:
//! * FILE: `database` (the pages of `*.edb`), `header` (its first two pages), `log` (`*.plg`),
//!   `checkpoint` (`*.pck`), `flush-map` (`*.jfm`), `any`;
//! * ACCESS: `read`, `write`, `flush`, `space` (how much is left of the volume, with the file
//!   `any`), `any`;
//! * FAULT: `drop` (a write or flush is acknowledged and forgotten, a read gives zeros), `flip`
//!   (one bit), `misdirect` (the neighbouring place), `tear` (the first half only), `delay=TIME`
//!   (each request), `rate=N` (reads and writes queue, N are served a second), `cache=N/R`
//!   (N writes are answered at once, R a second make room), `freeze=TIME`
//!   (requests wait until so long after the first one), `hang` (until the rules change), `full`,
//!   `error`;
//! * `from=N` passes the first N matching requests, `requests=N` ends after N faults, `after=TIME`
//!   starts TIME after the rule was set. Times are `500ms` or `3s`.
//!
//! The first rule that matches and is due decides. Files are opened for direct I/O, as `O_DIRECT`
//! asks. Of the ways to make a write durable only `fsync` and `fdatasync` arrive as a flush. The
//! volume goes when the value is dropped; where the process dies first, a shell removes it.
//! The same by hand, with rules on standard input: `cargo run -p testkit --bin faultfs`.

mod backing;
mod ids;
mod mounted;
mod rule;
mod serve;
mod switch;
mod transfer;

pub use mounted::FaultVolume;
pub use rule::{Access, Fault, FileKind, Rule, RuleError};
