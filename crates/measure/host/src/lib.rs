//! Work on this machine, ordered by the command line, a server or an agent. Orders come in as
//! values, events and records go out; a [`StopFlag`] ends the work. Nothing here reads arguments,
//! prompts or prints.

pub mod allowance;
pub mod apart;
pub mod crew;
pub mod dirty;
pub mod documents;
mod error;
pub mod fill;
mod flash;
pub mod headers;
mod line;
pub mod locks;
mod log_needed;
pub mod look;
pub mod lost_end;
mod measure;
mod observer;
pub mod pages;
mod patient;
pub mod ranges;
pub mod reseed;
pub mod scan;
pub mod scratch;
pub mod simulate;
mod stop;
pub mod sweep;
pub mod system;
pub mod target;
mod ticks;
pub mod version;
pub mod wire;

pub use error::HostError;
pub use line::{LineOrder, TriedLine, search_line};
pub use measure::{
    CutRun, LOAD_STEPS, MEASURE_AT, Measured, RunOrder, STOP_REQUEST, StopRequest, WAITING,
    is_live, journal_of, load, load_by_digest, load_to_digest, refusal_to_resume, refuse_shortage,
    run, runs_at, write_reports,
};
pub use observer::{HostEvent, HostObserver, NextLoad, PassWork, RunOutline};
pub use stop::StopFlag;
