//! Events in a deployment and their times, as a user writes them: `host-lost=EX03@2h+1h`.

use std::fmt;

use units::Nanos;

use crate::PlayedDeployment;

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A host fails; it returns with its disks.
    HostLost {
        /// Number of the host.
        host: usize,
    },
    /// A host and its disks are lost; its replacement is seeded.
    HostReplaced {
        /// Number of the host.
        host: usize,
    },
    /// A host is taken out of service after its databases have moved.
    Maintenance {
        /// Number of the host.
        host: usize,
    },
    /// A drive of an array fails: a redundant set is rebuilt, other copies are seeded again.
    DiskFailed {
        /// Number of the array.
        array: usize,
    },
    /// All hosts of a site fail, and its witness.
    SiteLost {
        /// The site, counted from 0.
        site: usize,
    },
    /// A copy is reseeded although nothing failed.
    Reseed {
        /// Number of its database.
        database: usize,
        /// Number of the copy.
        copy: usize,
        /// Bytes per second; `None`: as in the rules.
        rate: Option<u64>,
    },
    /// The link between the sites is cut.
    LinkCut,
    /// Every database returns to its most preferred healthy copy.
    Failback,
}

/// An event at a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Its start, from the start of the simulation.
    pub at: Nanos,
    /// Its end; `None` if it never ends or has no duration.
    pub until: Option<Nanos>,
    /// What happens.
    pub what: Happening,
    /// As the user wrote it.
    pub text: String,
    /// Copies that take over instead of those given by preference: database and copy.
    pub take_over: Vec<(usize, usize)>,
}

/// Why the text of an occurrence is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OccurrenceError {
    /// It is not of the form `KIND=NAME@TIME[+DURATION]`, or its kind is unknown.
    Form {
        /// The text.
        text: String,
    },
    /// It names no host, array or site of the deployment.
    Unknown {
        /// The text.
        text: String,
        /// What could be named.
        known: String,
    },
}

impl fmt::Display for OccurrenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { text } => write!(
                f,
                "--event {text}: write KIND=NAME@TIME[+DURATION], such as host-lost=EX03@2h+1h; \
                 kinds are host-lost, host-replaced, maintenance, disk-failed, site-lost=1 or 2, \
                 link-cut and failback, the last two without a name"
            ),
            Self::Unknown { text, known } => {
                write!(f, "--event {text}: the deployment has no such part; name {known}")
            }
        }
    }
}

impl std::error::Error for OccurrenceError {}

impl Occurrence {
    /// Parses `KIND=NAME@TIME[+DURATION]`; `duration` parses a time.
    pub fn parse(
        text: &str,
        deployment: &PlayedDeployment,
        duration: impl Fn(&str) -> Option<Nanos>,
    ) -> Result<Self, OccurrenceError> {
        let (what, when) = text.rsplit_once('@').ok_or_else(|| form_error(text))?;
        let (at, length) = when.split_once('+').map_or((when, None), |(at, of)| (at, Some(of)));
        let at = duration(at).ok_or_else(|| form_error(text))?;
        let until = length
            .map(|of| duration(of).map(|of| at + of).ok_or_else(|| form_error(text)))
            .transpose()?;
        let (kind, name) = what.split_once('=').unwrap_or((what, ""));
        let what = happening((kind, name), deployment, text)?;
        Ok(Self { at, until, what, text: text.to_owned(), take_over: Vec::new() })
    }

    /// Whether it is in progress at `now`.
    pub(crate) fn lasts_at(&self, now: Nanos) -> bool {
        self.at <= now && self.until.is_none_or(|until| now < until)
    }
}

fn form_error(text: &str) -> OccurrenceError {
    OccurrenceError::Form { text: text.to_owned() }
}

fn host_number(
    name: &str,
    deployment: &PlayedDeployment,
    text: &str,
) -> Result<usize, OccurrenceError> {
    deployment.host(name).ok_or_else(|| {
        let names: Vec<&str> = deployment.hosts.iter().map(|of| of.name.as_str()).collect();
        OccurrenceError::Unknown { text: text.to_owned(), known: names.join(", ") }
    })
}

fn happening(
    (kind, name): (&str, &str),
    deployment: &PlayedDeployment,
    text: &str,
) -> Result<Happening, OccurrenceError> {
    match kind {
        "host-lost" => Ok(Happening::HostLost { host: host_number(name, deployment, text)? }),
        "host-replaced" => {
            Ok(Happening::HostReplaced { host: host_number(name, deployment, text)? })
        }
        "maintenance" => Ok(Happening::Maintenance { host: host_number(name, deployment, text)? }),
        "disk-failed" => {
            let host = host_number(name, deployment, text)?;
            let mut copies = deployment.copies().filter(|(_, copy)| copy.host == host);
            let array =
                copies.next().map(|(_, copy)| copy.place.array).ok_or_else(|| form_error(text))?;
            Ok(Happening::DiskFailed { array })
        }
        "site-lost" => match (name, deployment.hosts.iter().map(|host| host.site).max()) {
            ("1", _) => Ok(Happening::SiteLost { site: 0 }),
            ("2", Some(1..)) => Ok(Happening::SiteLost { site: 1 }),
            _ => Err(OccurrenceError::Unknown {
                text: text.to_owned(),
                known: "a site by its number, 1 or 2".to_owned(),
            }),
        },
        "link-cut" if name.is_empty() => Ok(Happening::LinkCut),
        "failback" if name.is_empty() => Ok(Happening::Failback),
        _ => Err(form_error(text)),
    }
}
