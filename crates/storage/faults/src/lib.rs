//! Storage that fails on purpose, to test the engine's guarantees.
//!
//! # The fault model
//!
//! **Power fails** ([`CrashVolume`]), at any request. Nothing completes from then on. Then
//! * durable data survives: a durable write that completed, a completed volatile write that a flush
//!   of the same file, submitted later, has covered, and every completed change of length or of a
//!   name;
//! * every other write, in flight or completed, is on its own applied, dropped or torn. A torn
//!   write is applied in some of its units and not in others, in any pattern, as often as not only
//!   its beginning; a unit, the option `atomic_write_unit`, is never torn itself. With a unit of a
//!   page or more, no page is torn;
//! * storage that knows better ([`Guarantee`], such as a simulated array with its caches) decides
//!   itself which writes survive, and durability and flushes guarantee only what it keeps;
//! * overlapping writes are applied in the order of their submission, others in any;
//! * a change of length or a name in flight has happened or not; a file in creation may also be
//!   there and empty.
//!
//! Recovery must bring back everything acknowledged as durable, whatever the seed decides. It may
//! be cut short by the next power failure, and so on: survivors begin a new volume.
//!
//! **A request fails** ([`FaultyVolume`]: [`Effect::Fail`], [`Effect::Full`],
//! [`Effect::FullMidway`], [`Effect::ShortRead`]), once, at intervals, or from one on. A failed
//! write may have been done. The engine must stop, name what failed, lose nothing acknowledged
//! before, and recover later. A read that fails, or whose bits flip on the way, once must be
//! repeated and is no damage.
//!
//! **The device is slow** ([`Effect::Stall`]). Nothing may go wrong but time.
//!
//! **The device lies** ([`Effect::LoseWrite`], [`Effect::MisdirectWrite`], [`Effect::TearWrite`],
//! [`Effect::FlipBits`]): it says a request succeeded that did not. No engine survives that; it
//! must detect the fault and name it correctly.
//!
//! All of these may happen in one run. Wrap the [`FaultyVolume`] round the [`CrashVolume`]: then
//! the data stored by the lying device survives, not the data it was asked to store.

mod crash;
mod inject;

pub use crash::{CrashOptions, CrashVolume, Guarantee};
pub use inject::{Call, Effect, Fault, FaultPlan, FaultyVolume, Injection, Matching, Occurrence};
