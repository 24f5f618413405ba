//! Input documents: what to prepare, run and judge.
//!
//! A plan is TOML text. The reader (`low`) takes every known key with its position; one conversion
//! then checks everything and yields a [`Plan`] that the rest of the program trusts. All complaints
//! are reported at once, each with file, line, key and remedy.
//!
//! A [`Deployment`] is another document: the input of `plimsoll size`. A [`LunDocument`] lists the
//! LUNs that `plimsoll iscsi` makes, and their initiators.

mod bounds;
mod complaint;
mod convert;
mod day;
pub mod deployment;
mod keys;
mod limits;
mod low;
pub mod luns;
mod mirrored;
mod model;
mod name;
mod preset;
mod quantity;
mod reader;
mod replace;
mod room;
mod served;
mod write;

pub use complaint::{Complaint, PlanError};
pub use convert::{LONGEST_LONG_PAD, Overrides, SMALLEST_FILE, VolumeSize};
pub use day::LoadDay;
pub use deployment::Deployment;
pub use limits::Limits;
pub use low::{Holds, PlanKey, plan_keys, quoted};
pub use luns::LunDocument;
pub use mirrored::MirroredVolume;
pub use model::{
    Cache, Database, FlashCachePlan, LoadDurations, LoadSettings, MailboxDemand, Mix, Plan,
    Sessions, Test, TestKind, WarmUpPace,
};
pub use name::{name_fault, sound_name};
pub use preset::Preset;
pub use quantity::{parse_duration, parse_size, write_duration, write_shown_size, write_size};
pub use room::{LOG_RESERVE, end_reserve};
pub use served::{
    CacheIscsi, CacheTls, ServedCache, ServedVolume, name_fault as volume_name_fault,
};

/// The plan of `plimsoll quick`, complete except for its folder.
const QUICK: &str = include_str!("documents/quick.toml");

impl Plan {
    /// Reads a plan from TOML `text`; `file` is the name that complaints print.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        Self::parse_with(file, text, &Overrides::default())
    }

    /// Reads a plan whose text is overridden by the command line. Defaults that depend on an
    /// overridden key (the limits of a stress test) follow it.
    pub fn parse_with(file: &str, text: &str, overrides: &Overrides) -> Result<Self, PlanError> {
        let mut complaints = Vec::new();
        let plan = low::read(text, &mut complaints)
            .and_then(|document| convert::convert(document, overrides, &mut complaints));
        complaints.sort_by_key(|complaint| complaint.line);
        match plan {
            Some(plan) if complaints.is_empty() => Ok(plan),
            _ => Err(PlanError { file: file.to_owned(), complaints }),
        }
    }

    /// Returns a plan with every key explained, ready to edit.
    pub fn example() -> String {
        low::example()
    }

    /// The plan of `plimsoll quick`: two databases of about 1 GiB in `folder`, 45 s measured.
    pub fn quick(folder: &str, overrides: &Overrides) -> Result<Self, PlanError> {
        let text = QUICK.replace("\"FOLDER\"", &quoted(folder));
        Self::parse_with("the quick plan", &text, overrides)
    }
}
