//! All keys of a sizing, each with its name, unit, source and title in one place.
//!
//! Formulas store their results under a [`Key`] and find each other's by it. A key is called by its
//! name with the stage spelled out: `db.count` is `Key::DatabaseCount`. `--explain`, JSON and pages
//! take everything that they write about a number from here.

mod catalogue;
mod kinds;
mod tier;

use std::borrow::Cow;
use std::fmt;

pub use catalogue::Key;
pub use kinds::{FailureMode, ProcessorKey, ServerKind};
pub use tier::TierKey;

/// The v7.6 workbook and the article of October 2015, whose formulas the numbers follow.
const WORKBOOK: &str = "S-W76: the v7.6 workbook, recalculated";

/// Source of inputs.
const INPUT: &str = "the deployment, or its default";

/// The vendor's article on setting up `MetaCache` databases.
const METACACHE: &str = "S-MCDB: MetaCacheDatabase (MCDB) setup, learn.microsoft.com";

/// The same article names the factors of its distribution, but no formula.
const METACACHE_INFERRED: &str = "inferred from S-MCDB: 95 % of the SSDs, in equal parts";

/// Source of corrections to known mistakes, and of additions.
const OWN: &str = "Plimsoll";

/// A line of the catalogue.
#[derive(Clone, Copy, Debug)]
struct Definition {
    /// Name for people and programs: the whole name, or its last or first part if there is one key
    /// per tier or failure.
    name: &'static str,
    /// Empty for counts, shares and decisions.
    unit: &'static str,
    /// Source of the value.
    source: &'static str,
    /// Title for people.
    title: &'static str,
}

impl ProcessorKey {
    const fn definition(self) -> Definition {
        let (name, unit, title) = match self {
            Self::Active => ("cpu.active", "megacycles", "for active copies"),
            Self::Passive => ("cpu.passive", "megacycles", "for passive copies"),
            Self::ClientAccess => ("cpu.client_access", "megacycles", "for client access"),
            Self::Need => ("cpu.need", "megacycles", "needed of a server"),
            Self::Util => ("cpu.util", "", "share of the processors used"),
        };
        Definition { name, unit, source: WORKBOOK, title }
    }
}

impl Key {
    /// Name for people and programs: `db.count`.
    pub fn name(self) -> Cow<'static, str> {
        let name = self.definition().name;
        Cow::Owned(match self {
            Self::Tier(number, _) => format!("t{number}.{name}"),
            Self::Figure(figure) => format!("{name}.{figure}"),
            Self::FailureActive(mode) => format!("{name}_{}", mode.suffix()),
            Self::Processor(_, mode, kind) => {
                format!("{name}_{}_{}", mode.suffix(), kind.suffix())
            }
            _ => return Cow::Borrowed(name),
        })
    }

    /// Unit of a number; empty for counts, shares and decisions.
    pub const fn unit(self) -> &'static str {
        self.definition().unit
    }

    /// Source, unless a formula names its own.
    pub(crate) const fn source(self) -> &'static str {
        self.definition().source
    }

    /// Title for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::FailureActive(mode) => mode.title(),
            _ => self.definition().title,
        }
    }

    const fn definition(self) -> Definition {
        match self {
            Self::Tier(_, key) => key.definition(),
            Self::Processor(key, ..) => key.definition(),
            Self::Figure(_) => Definition {
                name: "figures",
                unit: "",
                source: INPUT,
                title: "a figure of the product",
            },
            Self::FailureActive(_) => Definition {
                name: "fail.active_per_server",
                unit: "",
                source: WORKBOOK,
                title: "active databases of the busiest server",
            },
            other => other.listed(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
