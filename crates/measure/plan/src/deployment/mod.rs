//! The document that sizing starts from: the users, the availability, the hardware.

mod figures;
mod files;
mod hardware;
mod maintenance;
mod metacache;
mod model;
mod prices;
mod product;
mod read;
mod relations;
mod sources;
mod tiers;
mod words;

use toml::de::DeTable;

use crate::complaint::{Complaint, PlanError};
use crate::reader::{Lines, TomlSection, parse};
use crate::replace::put;

pub use figures::{Figure, Figures};
pub use hardware::{Disk, Disks, Processor};
pub use metacache::MetaCache;
pub use model::{
    Availability, Backup, BackupFrequency, BackupMethod, Data, Deployment, FileSystem, GivenIops,
    Io, Mode, Names, Origin, Raid, RaidGroup, RaidGroups, Replication, SecondSite, Servers,
    SiteModel, Storage, StorageChoice, Tier, Transport, Witness,
};
pub use prices::Prices;
pub use product::{Product, assumption_in};
pub use sources::AssumedFigures;

/// The commented deployment that `plimsoll size --example` prints as a starting point.
const EXAMPLE: &str = include_str!("../documents/deployment.toml");

/// The command that prints a deployment to start from.
const EXAMPLE_COMMAND: &str = "plimsoll size --example";

/// A value that overrides the document's, e.g. `data.overhead_percent` and `10`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Section and key; sections in double brackets are numbered from 1, as in `tier.2.mailboxes`.
    pub key: String,
    /// The value as TOML; quotes around a word are optional.
    pub value: String,
}

impl Deployment {
    /// Reads a deployment from TOML `text`; error messages call it `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        Self::parse_with(file, text, &[])
    }

    /// Reads a deployment and overrides the values named by `replacements`.
    pub fn parse_with(
        file: &str,
        text: &str,
        replacements: &[Replacement],
    ) -> Result<Self, PlanError> {
        let mut complaints = Vec::new();
        let deployment = parse(text, EXAMPLE_COMMAND, &mut complaints)
            .and_then(|table| read_with(table, text, replacements, &mut complaints));
        complaints.sort_by_key(|complaint| complaint.line);
        match deployment {
            Some(deployment) if complaints.is_empty() => Ok(deployment),
            _ => Err(PlanError { file: file.to_owned(), complaints }),
        }
    }

    /// A deployment with every key explained, ready to be edited.
    pub const fn example() -> &'static str {
        EXAMPLE
    }
}

fn read_with<'a>(
    mut table: DeTable<'a>,
    text: &'a str,
    replacements: &'a [Replacement],
    complaints: &mut Vec<Complaint>,
) -> Option<Deployment> {
    for replacement in replacements {
        if let Err(complaint) = put(&mut table, &replacement.key, &replacement.value) {
            complaints.push(complaint);
            return None;
        }
    }
    let lines = Lines::of_text(text);
    Some(read::deployment(TomlSection::root(&table, &lines), complaints))
}
