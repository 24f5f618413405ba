//! The planned build of one server, from the output of `plan`.

use std::fmt;

use serde_json::Value;

/// The planned build of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutPlan {
    /// Name of the server.
    pub server: String,
    /// The file system of every volume.
    pub file_system: String,
    /// Whether each volume has a disk to itself instead of a share of a redundant group.
    pub has_disk_each: bool,
    /// Volumes of the server.
    pub(crate) volumes: Vec<PlannedVolume>,
}

/// A volume of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedVolume {
    /// Label of the volume.
    pub name: String,
    /// Minimum size in bytes.
    pub bytes: u64,
    /// What the volume is for.
    pub(crate) purpose: VolumeUse,
    /// Databases that have a copy, or its log, on the volume.
    pub databases: Vec<String>,
}

/// Purpose of a volume in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VolumeUse {
    /// Databases, and their logs unless these are separate.
    Databases,
    /// Logs alone.
    Logs,
    /// Restores.
    Restore,
    /// Replaces a volume that fails.
    Spare,
    /// Caches of databases, which the product creates itself.
    MetaCache,
}

/// Why there is nothing to compare a server with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutPlanError {
    /// Not an answer of `plan`; names the missing part.
    NotAPlan(&'static str),
    /// The answer has no such server, or has several and none was requested.
    NoServer {
        /// The requested server.
        asked: Option<String>,
        /// The servers in the answer.
        known: Vec<String>,
    },
}

impl fmt::Display for LayoutPlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPlan(lacks) => write!(
                f,
                "is no layout of a deployment (it has no {lacks}); name the deployment, or the \
                 provision.json that `plimsoll plan DEPLOYMENT -o DIR` writes"
            ),
            Self::NoServer { asked, known } => {
                let known = known.join(", ");
                match asked {
                    Some(asked) => write!(f, "has no server {asked}; name one of {known}"),
                    None => write!(f, "is of several servers; say --server with one of {known}"),
                }
            }
        }
    }
}

impl std::error::Error for LayoutPlanError {}

impl LayoutPlan {
    /// The server `asked` of an answer of `plan`; if none is named, the one with this machine's
    /// name, or the only one.
    pub fn of(answer: &Value, asked: Option<&str>, machine: &str) -> Result<Self, LayoutPlanError> {
        if answer["kind"] != "provision" {
            return Err(LayoutPlanError::NotAPlan("kind `provision`"));
        }
        let groups = list(answer, "groups")?;
        let mut servers = Vec::new();
        for group in groups {
            servers.extend(list(group, "servers")?);
        }
        let server = choose(&servers, asked, machine)?;
        let volumes = list(server, "volumes")?.iter().map(PlannedVolume::of);
        let mut kinds = list(answer, "disks")?.iter();
        let alike = kinds.find(|kind| {
            ["site", "only_lagged"].iter().all(|member| kind[member] == server[member])
        });
        Ok(Self {
            server: text(server, "name")?.to_owned(),
            file_system: text(answer, "file_system")?.to_owned(),
            has_disk_each: alike
                .is_none_or(|kind| kind["pools"].as_array().is_none_or(Vec::is_empty)),
            volumes: volumes.collect::<Result<_, _>>()?,
        })
    }
}

impl LayoutPlan {
    /// Whether any of its volumes has this purpose.
    pub(super) fn has(&self, purpose: VolumeUse) -> bool {
        self.volumes.iter().any(|volume| volume.purpose == purpose)
    }
}

fn choose<'a>(
    servers: &[&'a Value],
    asked: Option<&str>,
    machine: &str,
) -> Result<&'a Value, LayoutPlanError> {
    let found = match (asked, servers) {
        (Some(asked), _) => named(servers, asked),
        (None, [only]) => Some(*only),
        (None, _) => named(servers, machine),
    };
    found.ok_or_else(|| LayoutPlanError::NoServer {
        asked: asked.map(str::to_owned),
        known: servers.iter().filter_map(|it| Some(it["name"].as_str()?.to_owned())).collect(),
    })
}

fn named<'a>(servers: &[&'a Value], name: &str) -> Option<&'a Value> {
    let mut servers = servers.iter().copied();
    servers.find(|server| server["name"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(name)))
}

impl PlannedVolume {
    fn of(volume: &Value) -> Result<Self, LayoutPlanError> {
        let purpose = match text(volume, "for")? {
            "databases" => VolumeUse::Databases,
            "logs" => VolumeUse::Logs,
            "restore" => VolumeUse::Restore,
            "spare" => VolumeUse::Spare,
            "MetaCache databases" => VolumeUse::MetaCache,
            _ => return Err(LayoutPlanError::NotAPlan("known `for` of a volume")),
        };
        let databases = list(volume, "databases")?.iter();
        Ok(Self {
            name: text(volume, "name")?.to_owned(),
            bytes: volume["bytes"].as_u64().ok_or(LayoutPlanError::NotAPlan("`bytes`"))?,
            purpose,
            databases: databases.filter_map(|name| Some(name.as_str()?.to_owned())).collect(),
        })
    }
}

fn list<'a>(value: &'a Value, member: &'static str) -> Result<&'a Vec<Value>, LayoutPlanError> {
    value[member].as_array().ok_or(LayoutPlanError::NotAPlan(member))
}

fn text<'a>(value: &'a Value, member: &'static str) -> Result<&'a str, LayoutPlanError> {
    value[member].as_str().ok_or(LayoutPlanError::NotAPlan(member))
}
