//! A folder whose storage fails on purpose, for running the real program on it through the kernel.
//!
//! [`FaultVolume::mount`] mounts a backing folder with FUSE. Requests pass through unless a
//! [`Rule`] matches them. Rules can be changed while the volume is in use:
//!
//! ```no_run
//! # use testkit::fault_volume::{FaultVolume, Rule};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let volume = FaultVolume::mount("/scratch/backing".as_ref(), "/scratch/mount".as_ref())?;
//! volume.set(vec!["log write drop from=20 after=2s".parse::<Rule>()?]);
//! // ... run the program on /scratch/mount ...
//! assert!(volume.injected() > 0);
//! volume.set(Vec::new()); // Also releases hung requests.
//! # Ok(())
//! # }
//! ```
//!
//! A rule is `FILE ACCESS FAULT [from=N] [requests=N] [after=TIME]`:
//! * FILE: `database` (the pages of `*.edb`), `header` (its first two pages), `log` (`*.plg`),
//!   `checkpoint` (`*.pck`), `flush-map` (`*.jfm`), `any`;
//! * ACCESS: `read`, `write`, `flush`, `space` (a query for free space, with the file `any`),
//!   `any`;
//! * FAULT: `drop` (a write or flush is acknowledged and forgotten, a read returns zeros), `flip`
//!   (one bit), `misdirect` (to the neighbouring block), `tear` (the first half only), `delay=TIME`
//!   (each request), `rate=N` (reads and writes queue, N per second are served), `cache=N/R` (a
//!   write-back cache: N writes are answered at once, R per second leave it), `freeze=TIME`
//!   (requests wait until TIME after the first one), `hang` (until the rules change), `full`,
//!   `error`;
//! * `from=N` passes the first N matching requests, `requests=N` ends after N faults, `after=TIME`
//!   starts TIME after the rule was set. Times are `500ms` or `3s`.
//!
//! The first rule that matches and is due decides. Files bypass the page cache, as with `O_DIRECT`.
//! Only `fsync` and `fdatasync` arrive as a flush, not other ways to make a write durable. The
//! volume is unmounted when the value is dropped; if the process dies first, a shell unmounts it.
//! `cargo run -p testkit --bin faultfs` does the same with rules from standard input.

mod backing;
mod ids;
mod mounted;
mod rule;
mod serve;
mod switch;
mod transfer;

pub use mounted::FaultVolume;
pub use rule::{Access, Fault, FileKind, Rule, RuleError};
