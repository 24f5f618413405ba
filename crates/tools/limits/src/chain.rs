//! The limits that a request passes on its way, and which of them decides.

use std::fmt;

use crate::application::{APPLICATIONS, Application, Protocol, Side};
use crate::config::ConfigFile;
use crate::error::{ConfigError, Lock};
use crate::host;
use crate::lock;
use crate::setting::{Setting, removes_request_filter, settings};
use crate::setting_kind::SettingKind;

/// Default limit of IIS, in bytes.
const DEFAULT_CONTENT_BYTES: u64 = 30_000_000;
/// Default limit of ASP.NET, in bytes.
const DEFAULT_REQUEST_BYTES: u64 = 4096 << 10;

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the client to the server: messages sent, attachments added.
    Upload,
    /// From the server to the client. Only documents fetched through `ActiveSync` are limited; IIS
    /// and ASP.NET limit requests, never answers.
    Download,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Upload => "upload",
            Self::Download => "download",
        })
    }
}

/// Place in which a limit was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulePlace {
    /// Set in a file.
    File {
        /// Name of the file.
        file: String,
        /// The first line that sets the limit.
        line: u32,
        /// Number of places in the file that set it.
        count: usize,
    },
    /// Set nowhere: the default of IIS or ASP.NET.
    Default,
}

/// One limit on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Front or back end.
    pub side: Side,
    /// The limiting setting.
    pub kind: SettingKind,
    /// Direction of the limited transfers.
    pub direction: Direction,
    /// The lowest value, in bytes.
    pub bytes: u64,
    /// File and line that set the value.
    pub place: RulePlace,
    /// `false` if IIS's request filter is removed: whether Exchange's replacement reads the value
    /// is not documented.
    pub is_certain: bool,
}

/// The limits of one protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The protocol.
    pub protocol: Protocol,
    /// All limits, front end first.
    pub links: Vec<Link>,
    /// Sides whose file is missing: their limits are unknown.
    pub missing: Vec<Side>,
    /// Sides whose own file must not set a limit, with the lock that forbids it.
    pub locks: Vec<(Side, Lock)>,
}

impl Chain {
    /// The lowest limit in `direction` that certainly applies, and every link with it; `None` if
    /// there is no such limit.
    pub fn effective(&self, direction: Direction) -> Option<(u64, Vec<&Link>)> {
        self.lowest(direction, true)
    }

    /// Like `effective`, including limits that may not apply.
    pub fn perhaps(&self, direction: Direction) -> Option<(u64, Vec<&Link>)> {
        self.lowest(direction, false)
    }

    fn lowest(&self, direction: Direction, only_certain: bool) -> Option<(u64, Vec<&Link>)> {
        let counted = self
            .links
            .iter()
            .filter(|link| link.direction == direction && (link.is_certain || !only_certain));
        let lowest = counted.clone().map(|link| link.bytes).min()?;
        Some((lowest, counted.filter(|link| link.bytes == lowest).collect()))
    }
}

/// The files of one server.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// applicationHost.config.
    pub host: Option<ConfigFile>,
    /// The file of each site's root.
    pub sites: Vec<(Side, ConfigFile)>,
    /// The files of the virtual directories.
    pub applications: Vec<(Application, ConfigFile)>,
}

impl Server {
    /// The limits of every protocol that has a file.
    pub fn chains(&self) -> Result<Vec<Chain>, ConfigError> {
        let mut protocols: Vec<Protocol> =
            self.applications.iter().map(|(application, _)| application.protocol).collect();
        protocols.sort_unstable();
        protocols.dedup();
        protocols.into_iter().map(|protocol| self.chain(protocol)).collect()
    }

    fn chain(&self, protocol: Protocol) -> Result<Chain, ConfigError> {
        let mut chain =
            Chain { protocol, links: Vec::new(), missing: Vec::new(), locks: Vec::new() };
        for expected in APPLICATIONS.iter().filter(|row| row.protocol == protocol) {
            match self.applications.iter().find(|(found, _)| found == expected) {
                Some((application, file)) => {
                    chain.links.extend(self.links(application, file)?);
                    let lock = self.lock(application)?;
                    chain.locks.extend(lock.map(|lock| (application.side, lock)));
                }
                None => chain.missing.push(expected.side),
            }
        }
        Ok(chain)
    }

    /// Returns an error if a file above that of `application` forbids it to set a limit.
    pub fn refuse_locked(&self, application: &Application) -> Result<(), ConfigError> {
        let location = application.location();
        let lock = self.lock(application)?;
        lock.map_or(Ok(()), |lock| Err(ConfigError::Locked { location, lock }))
    }

    fn lock(&self, application: &Application) -> Result<Option<Lock>, ConfigError> {
        let site = self.sites.iter().filter(|(side, _)| *side == application.side);
        for file in self.host.iter().chain(site.map(|(_, file)| file)) {
            // Paths in a site's own file are relative to the site.
            let is_host = self.host.as_ref() == Some(file);
            let location = application.location();
            let location = if is_host { &location } else { &application.path[1..] };
            if let Some(lock) = lock::lock(file, location)? {
                return Ok(Some(lock));
            }
        }
        Ok(None)
    }

    fn links(
        &self,
        application: &Application,
        file: &ConfigFile,
    ) -> Result<Vec<Link>, ConfigError> {
        let side = application.side;
        let own = settings(file, application.protocol)?;
        let mut links = vec![
            self.content_link(application, file, &own)?,
            self.request_link(application, file, &own)?,
        ];
        for kind in [SettingKind::ReceivedMessage, SettingKind::StringContent] {
            links.extend(link(side, kind, Direction::Upload, file, &own));
        }
        let documents = SettingKind::DocumentData;
        links.extend(link(side, documents, Direction::Download, file, &own));
        Ok(links)
    }

    /// The limit of the first place that sets it: the file itself, the site's root,
    /// applicationHost.config or IIS's default.
    fn content_link(
        &self,
        application: &Application,
        file: &ConfigFile,
        own: &[Setting],
    ) -> Result<Link, ConfigError> {
        let (side, kind) = (application.side, SettingKind::ContentLength);
        let mut found = link(side, kind, Direction::Upload, file, own);
        if found.is_none() {
            found = self.site_link(side, kind)?;
        }
        let mut found = match found {
            Some(found) => found,
            None => self.host_link(application)?,
        };
        found.is_certain = !removes_request_filter(file)?;
        Ok(found)
    }

    /// The limit of the first place that sets it: the file itself, the site's root or ASP.NET's
    /// default.
    fn request_link(
        &self,
        application: &Application,
        file: &ConfigFile,
        own: &[Setting],
    ) -> Result<Link, ConfigError> {
        let (side, kind) = (application.side, SettingKind::RequestLength);
        if let Some(found) = link(side, kind, Direction::Upload, file, own) {
            return Ok(found);
        }
        let inherited = self.site_link(side, kind)?;
        Ok(inherited.unwrap_or_else(|| default_link(side, kind, DEFAULT_REQUEST_BYTES)))
    }

    /// The limit that applications inherit from the root of their site.
    fn site_link(&self, side: Side, kind: SettingKind) -> Result<Option<Link>, ConfigError> {
        let Some((_, file)) = self.sites.iter().find(|(found, _)| *found == side) else {
            return Ok(None);
        };
        let mut own = settings(file, Protocol::Rpc)?;
        own.retain(|setting| setting.inherited);
        Ok(link(side, kind, Direction::Upload, file, &own))
    }

    fn host_link(&self, application: &Application) -> Result<Link, ConfigError> {
        let (side, kind) = (application.side, SettingKind::ContentLength);
        let mut found = default_link(side, kind, DEFAULT_CONTENT_BYTES);
        let Some(host) = &self.host else {
            return Ok(found);
        };
        if let Some((bytes, line)) = host::content_length(host, &application.location())? {
            found.bytes = bytes;
            found.place = RulePlace::File { file: host.name().to_owned(), line, count: 1 };
        }
        Ok(found)
    }
}

fn default_link(side: Side, kind: SettingKind, bytes: u64) -> Link {
    Link {
        side,
        kind,
        direction: Direction::Upload,
        bytes,
        place: RulePlace::Default,
        is_certain: true,
    }
}

/// The lowest of the settings of `kind`.
fn link(
    side: Side,
    kind: SettingKind,
    direction: Direction,
    file: &ConfigFile,
    own: &[Setting],
) -> Option<Link> {
    let of_kind = own.iter().filter(|setting| setting.kind == kind);
    let lowest = of_kind.clone().min_by_key(|setting| setting.number)?;
    Some(Link {
        side,
        kind,
        direction,
        bytes: lowest.bytes(),
        place: RulePlace::File {
            file: file.name().to_owned(),
            line: lowest.line,
            count: of_kind.count(),
        },
        is_certain: true,
    })
}
