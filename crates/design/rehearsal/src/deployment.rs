//! The deployment to play: hosts, databases with their copies, and the arrays that hold these.

use std::fmt;

use provision::layout::Witness;
use simdisk::ArrayDescription;
use simdisk::operations::{OperationPlace, OperationProfile};
use units::Nanos;

/// A deployment, laid out on arrays.
#[derive(Clone, Debug)]
pub struct PlayedDeployment {
    /// The hosts.
    pub hosts: Vec<PlayedHost>,
    /// The arrays; several hosts may have copies on one.
    pub arrays: Vec<ArrayDescription>,
    /// The databases.
    pub databases: Vec<PlayedDatabase>,
    /// The loads that databases name.
    pub profiles: Vec<OperationProfile>,
    /// When copies take over.
    pub rules: PlayedRules,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedHost {
    /// Its name.
    pub name: String,
    /// Its site, counted from 0.
    pub site: usize,
    /// Its availability group, counted from 0; each has its own quorum.
    pub group: usize,
}

/// A database and its copies.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedDatabase {
    /// Its name.
    pub name: String,
    /// Index of its load in the profiles.
    pub profile: usize,
    /// Reads and writes per second that users demand of its active copy; if `None`, as many as its
    /// sessions generate.
    pub iops: Option<f64>,
    /// Sessions of its active copy.
    pub sessions: u32,
    /// Its copies in the order of activation preference; the first is active in normal operation.
    pub copies: Vec<PlayedCopy>,
}

/// A copy of a database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedCopy {
    /// Number of its host.
    pub host: usize,
    /// Location of the database; its array is an index into those of the deployment.
    pub place: OperationPlace,
    /// Location of its log.
    pub log: OperationPlace,
    /// Whether it is a lagged copy.
    pub is_lagged: bool,
}

/// When copies take over, and how they recover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedRules {
    /// Location of the witness; `None` if the servers form no group and thus need no quorum.
    pub witness: Option<Witness>,
    /// Whether a lagged copy takes over when no other is left.
    pub activates_lagged: bool,
    /// Delay of a lagged copy's replay; it must catch up on this much log before users can work
    /// on it.
    pub lag: Nanos,
    /// Time an administrator takes to activate the surviving site.
    pub by_hand: Nanos,
    /// Reads and writes of a passive copy as a share of those of the active one.
    pub replay_share: f64,
    /// Replay speed of a returning copy, as a multiple of the load.
    pub catch_up: f64,
    /// Reseed rate of one copy in bytes per second, if the links can carry it.
    pub reseed_rate: f64,
    /// Bandwidth of the link between the sites in bytes per second, shared by reseeds across it;
    /// unlimited if `None`.
    pub site_link: Option<f64>,
    /// Rebuild rate in bytes per second; if `None`, the share of time that the array's file gives
    /// it.
    pub rebuild_rate: Option<f64>,
}

/// Reseed rate of one copy in bytes per second. Derived from published times: 2 TB take 23 hours,
/// and 8 TB 93 (decision 093).
const USUAL_RESEED: f64 = 24e6;

impl Default for PlayedRules {
    fn default() -> Self {
        Self {
            witness: None,
            activates_lagged: false,
            lag: Nanos::ZERO,
            by_hand: Nanos::from_secs(1_800),
            replay_share: 1.0,
            catch_up: 3.0,
            reseed_rate: USUAL_RESEED,
            site_link: None,
            rebuild_rate: None,
        }
    }
}

/// Why a deployment cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// There are no hosts or no databases.
    Empty,
    /// A database has no copies, or an index is out of range.
    Dangling {
        /// The database.
        database: String,
    },
    /// A database has no sessions, or a target load of 0.
    NoLoad {
        /// The database.
        database: String,
    },
    /// The array cannot be simulated.
    Array {
        /// The deficiency in its description.
        why: String,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no host has a database: nothing to simulate"),
            Self::Dangling { database } => write!(
                f,
                "{database}: a copy names a host or an array that the deployment does not have"
            ),
            Self::NoLoad { database } => {
                write!(f, "{database}: give it a target above 0 and at least one session")
            }
            Self::Array { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for ShapeError {}

impl PlayedDeployment {
    /// Checks that there is something to play, and that every index is valid.
    pub fn check(&self) -> Result<(), ShapeError> {
        if self.hosts.is_empty() || self.databases.is_empty() {
            return Err(ShapeError::Empty);
        }
        for database in &self.databases {
            let name = &database.name;
            let is_whole = database.copies.iter().all(|copy| {
                copy.host < self.hosts.len()
                    && copy.place.array < self.arrays.len()
                    && copy.log.array < self.arrays.len()
            });
            if !is_whole || database.copies.is_empty() || database.profile >= self.profiles.len() {
                return Err(ShapeError::Dangling { database: name.clone() });
            }
            if database.sessions == 0 || database.iops.is_some_and(|iops| iops <= 0.0) {
                return Err(ShapeError::NoLoad { database: name.clone() });
            }
        }
        Ok(())
    }

    /// The number of the host with this name, ignoring case.
    pub(crate) fn host(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name.eq_ignore_ascii_case(name))
    }

    /// The site of a copy's host.
    pub(crate) fn site_of(&self, copy: &PlayedCopy) -> usize {
        self.hosts[copy.host].site
    }

    /// Every copy, with the indexes of its database and of the copy.
    pub(crate) fn copies(&self) -> impl Iterator<Item = ((usize, usize), &PlayedCopy)> {
        self.databases.iter().enumerate().flat_map(|(number, database)| {
            database.copies.iter().enumerate().map(move |(at, copy)| ((number, at), copy))
        })
    }
}
