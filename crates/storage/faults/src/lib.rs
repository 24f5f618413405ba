//! Storage that fails on purpose, to test the engine's guarantees.
//!
//! # The fault model
//!
//! **Power fails** ([`CrashVolume`]), at any request. Nothing completes from then on. Then
//! * durable data survives: a durable write that completed, a completed volatile write that a flush
//!   of the same file, submitted later, has covered, and every completed change of length or of a
//!   name;
//! * every other write, in flight or completed, is applied, dropped or torn, independently of the
//!   others. A torn write applies any subset of its units, half of the time a prefix; a unit, the
//!   option `atomic_write_unit`, is never torn itself. With a unit of a page or more, no page is
//!   torn;
//! * storage that knows better ([`Guarantee`], such as a simulated array with its caches) decides
//!   itself which writes survive, and durability and flushes guarantee only what it keeps;
//! * overlapping writes are applied in the order of their submission, others in any order;
//! * a change of length or a name in flight has happened or not; a file being created may also
//!   exist and be empty.
//!
//! Recovery must bring back everything acknowledged as durable, whatever the seed decides. It may
//! be cut short by the next power failure, and so on: survivors begin a new volume.
//!
//! **A request fails** ([`FaultyVolume`]: [`Effect::Fail`], [`Effect::Full`],
//! [`Effect::FullMidway`], [`Effect::ShortRead`]), once, at intervals, or from some request on. A
//! failed write may have taken effect. The engine must stop, name what failed, lose nothing
//! acknowledged before, and recover later. A read that fails once, or whose bits flip once in
//! transit, must be repeated and does not count as damage.
//!
//! **The device is slow** ([`Effect::Stall`]). Requests take longer; nothing else may go wrong.
//!
//! **The device lies** ([`Effect::LoseWrite`], [`Effect::MisdirectWrite`], [`Effect::TearWrite`],
//! [`Effect::FlipBits`]): it reports success for a request that it carried out wrongly or not at
//! all. No engine survives that; it must detect the fault and name it correctly.
//!
//! All of these may happen in one run. Wrap the [`FaultyVolume`] round the [`CrashVolume`]: then
//! the data stored by the lying device survives, not the data it was asked to store.

mod crash;
mod inject;

pub use crash::{CrashOptions, CrashVolume, Guarantee};
pub use inject::{Call, Effect, Fault, FaultPlan, FaultyVolume, Injection, Matching, Occurrence};
