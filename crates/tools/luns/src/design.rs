//! Turns a document, and the deployment that it may name, into LUNs with files and numbers, and a
//! target for each initiator.

use std::net::{IpAddr, SocketAddr};

use plan::luns::{
    Allocation, ChapMode, LunAccess, LunContent, LunDocument, LunInitiator, LunPool, LunWish,
};
use provision::{Provision, Purpose, Server, Volume};
use units::Bytes;

/// The size of a LUN is a multiple of this, so that the end of its contents can be aligned too.
pub(crate) const ALIGNMENT: Bytes = Bytes(1 << 20);
/// Maximum fill of a LUN. Source: the product's storage guidance expects 20 % to stay free.
pub(crate) const MOST_FILLED_PERCENT: u64 = 80;

/// The complete target state. Initiators differ in their rights, but a target of `tgt` gives all of
/// them the same, so each initiator gets a separate target.
#[derive(Clone, Debug, PartialEq)]
pub struct LunDesign {
    /// Prefix of account names.
    pub name: String,
    /// Addresses at which initiators reach the targets.
    pub portals: Vec<SocketAddr>,
    /// CHAP authentication of initiators and targets.
    pub authentication: ChapMode,
    /// Allocation unit of the future file systems.
    pub allocation_unit: Bytes,
    /// Minimum size of a LUN.
    pub smallest_lun: Bytes,
    /// Whether databases have copies on other servers.
    pub has_copies: bool,
    /// The LUNs, in the order of their numbers.
    pub luns: Vec<DesignedLun>,
    /// A target for each initiator that reaches a LUN.
    pub targets: Vec<Target>,
}

/// A LUN.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignedLun {
    /// Name for people.
    pub name: String,
    /// Number on every target that offers the LUN; 1 or more.
    pub number: u64,
    /// Size of the backing file.
    pub size: Bytes,
    /// Purpose of the volume on it.
    pub holds: LunContent,
    /// Bytes that the LUN will hold; `None` if unknown.
    pub content: Option<Bytes>,
    /// Name of the pool that the LUN is in.
    pub pool: String,
    /// Path of the backing file.
    pub file: String,
    /// When the backing file takes its space.
    pub allocation: Allocation,
}

/// A target, for one initiator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// iSCSI qualified name of the target.
    pub iqn: String,
    /// Display name of its initiator.
    pub initiator: String,
    /// Name that the initiator sends.
    pub initiator_iqn: String,
    /// Addresses of the initiator; empty for any.
    pub addresses: Vec<IpAddr>,
    /// CHAP account of the initiator.
    pub account: String,
    /// CHAP account of the target, for mutual CHAP.
    pub own_account: String,
    /// LUNs that the target offers.
    pub luns: Vec<MappedLun>,
}

/// A LUN on a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedLun {
    /// Name of the LUN.
    pub name: String,
    /// Number of the LUN on the target.
    pub number: u64,
    /// The backing file.
    pub file: String,
    /// Whether the initiator may only read the LUN.
    pub is_read_only: bool,
}

/// Numbers that LUNs already have, by name. LUNs keep them, because initiators know LUNs by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(pub Vec<(String, u64)>);

/// Reasons why there is no design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DesignError {
    /// A server of the deployment has no initiator.
    NoInitiator {
        /// The server.
        server: String,
    },
    /// No pool holds a volume's purpose.
    NoPool {
        /// The LUN of the volume.
        lun: String,
        /// Purpose of the volume.
        holds: LunContent,
    },
    /// The LUN name made for a volume is too long or taken by another LUN.
    BadName {
        /// The name.
        lun: String,
    },
    /// No initiator reaches any LUN.
    Unreached,
}

impl std::fmt::Display for DesignError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoInitiator { server } => write!(
                f,
                "{server} of the deployment is no [[initiator]]; add one with `name = {server:?}` \
                 and its `iqn`"
            ),
            Self::NoPool { lun, holds } => write!(
                f,
                "{lun}: no [[pool]] holds {0}; add {0:?} to the `holds` of one",
                holds.name()
            ),
            Self::BadName { lun } => write!(
                f,
                "{lun}: is no name for a LUN or is there twice; shorten or change the names of \
                 [[lun]] or of the deployment's servers and databases"
            ),
            Self::Unreached => write!(
                f,
                "no initiator reaches any LUN; give `access = \"read/write\"` to an [[initiator]]"
            ),
        }
    }
}

impl std::error::Error for DesignError {}

impl LunDesign {
    /// Designs the LUNs of a document; `provision` is the layout of the deployment that the
    /// document names.
    pub fn of(
        document: &LunDocument,
        provision: Option<&Provision>,
        numbers: &Numbers,
    ) -> Result<Self, DesignError> {
        let mut wishes = document.luns.clone();
        for (server, volume, needs) in provision.into_iter().flat_map(volumes) {
            wishes.push(wish(document, server, volume, needs)?);
        }
        let mut luns: Vec<DesignedLun> = Vec::new();
        for (wish, number) in wishes.iter().zip(numbers.of(&wishes)) {
            let lun = lun(document, wish, number);
            let is_known = luns.iter().any(|known| known.file.eq_ignore_ascii_case(&lun.file));
            if is_known || wish.name.len() > 64 || wish.name.contains(['/', ',', '=']) {
                return Err(DesignError::BadName { lun: wish.name.clone() });
            }
            luns.push(lun);
        }
        let targets: Vec<Target> = document
            .initiators
            .iter()
            .map(|one| target(document, one, &wishes, &luns))
            .filter(|target| !target.luns.is_empty())
            .collect();
        if targets.is_empty() {
            return Err(DesignError::Unreached);
        }
        Ok(Self {
            name: document.name.clone(),
            portals: document.portals.clone(),
            authentication: document.authentication,
            allocation_unit: document.allocation_unit,
            smallest_lun: document.smallest_lun,
            has_copies: document.has_copies || provision.is_some_and(|made| made.needs.copies),
            luns,
            targets,
        })
    }

    /// The LUN of this name.
    pub fn lun(&self, name: &str) -> Option<&DesignedLun> {
        self.luns.iter().find(|lun| lun.name == name)
    }

    /// Initiators that may write to a LUN, and those that may only read it.
    pub(crate) fn users(&self, lun: &str) -> (Vec<&str>, Vec<&str>) {
        let mut users = (Vec::new(), Vec::new());
        for target in &self.targets {
            for mapped in target.luns.iter().filter(|mapped| mapped.name == lun) {
                let list = if mapped.is_read_only { &mut users.1 } else { &mut users.0 };
                list.push(target.initiator.as_str());
            }
        }
        users
    }
}

impl Target {
    /// Initiators to admit. `tgt` checks an address or a name, never both, and a name is only an
    /// initiator's claim; so addresses decide if they are known.
    pub fn admitted(&self) -> Vec<String> {
        match &self.addresses[..] {
            [] => vec![self.initiator_iqn.clone()],
            addresses => addresses.iter().map(ToString::to_string).collect(),
        }
    }
}

impl DesignedLun {
    /// Filled share of the LUN as a fraction; `None` if unknown.
    pub fn filled(&self) -> Option<f64> {
        Some(self.content?.0 as f64 / self.size.0.max(1) as f64)
    }
}

impl Numbers {
    /// A number for each wish: the one it already has, otherwise the next that was never used.
    fn of(&self, wishes: &[LunWish]) -> Vec<u64> {
        let mut last = self.0.iter().map(|(_, number)| *number).max().unwrap_or(0);
        let mut numbers = Vec::new();
        for wish in wishes {
            let known = self.0.iter().find(|(name, _)| *name == wish.name);
            numbers.push(known.map_or(last + 1, |(_, number)| *number));
            last = last.max(numbers[numbers.len() - 1]);
        }
        numbers
    }
}

/// Every volume of every server that an array can offer, with its pool.
fn volumes(provision: &Provision) -> impl Iterator<Item = (&Server, &Volume, &Provision)> {
    let servers = provision.groups.iter().flat_map(|group| &group.servers);
    servers.flat_map(move |server| {
        server.volumes.iter().map(move |volume| (server, volume, provision))
    })
}

/// A volume as a LUN, large enough that it never exceeds the maximum fill.
fn wish(
    document: &LunDocument,
    server: &Server,
    volume: &Volume,
    provision: &Provision,
) -> Result<LunWish, DesignError> {
    let is_known = document.initiators.iter().any(|one| one.name == server.name);
    if !is_known {
        return Err(DesignError::NoInitiator { server: server.name.clone() });
    }
    let name = format!("{}-{}", server.name, volume.name);
    let holds = match volume.purpose {
        Purpose::Databases => LunContent::Databases,
        Purpose::Logs => LunContent::Logs,
        Purpose::Restore | Purpose::Spare | Purpose::MetaCache => LunContent::Other,
    };
    let pool = document.pools.iter().find(|pool| pool.holds.contains(&holds));
    let pool = pool.ok_or_else(|| DesignError::NoPool { lun: name.clone(), holds })?;
    let content = content(volume, provision);
    Ok(LunWish {
        size: aligned(volume.size.max(room_for(content.unwrap_or_default()))),
        pool: pool.name.clone(),
        access: Some((vec![server.name.clone()], Vec::new())),
        name,
        holds,
        content,
    })
}

/// Minimum size at which `content` does not exceed the maximum fill.
pub(crate) const fn room_for(content: Bytes) -> Bytes {
    Bytes(content.0.div_ceil(MOST_FILLED_PERCENT).saturating_mul(100))
}

/// Size of the databases on a volume once their mailboxes are full.
fn content(volume: &Volume, provision: &Provision) -> Option<Bytes> {
    let needs = &provision.needs;
    let logs = if needs.log_volume.is_none() { needs.log } else { Bytes(0) };
    (volume.purpose == Purpose::Databases)
        .then(|| Bytes((needs.database.0 + logs.0) * volume.databases.len() as u64))
}

/// `size` rounded up to the alignment of LUNs.
fn aligned(size: Bytes) -> Bytes {
    Bytes(size.0.div_ceil(ALIGNMENT.0) * ALIGNMENT.0)
}

fn lun(document: &LunDocument, wish: &LunWish, number: u64) -> DesignedLun {
    // The document reader has checked that the pool exists.
    let pool = document.pools.iter().find(|pool| pool.name == wish.pool);
    let folder = pool.map_or("", |pool: &LunPool| pool.folder.as_str());
    DesignedLun {
        name: wish.name.clone(),
        number,
        size: wish.size,
        holds: wish.holds,
        content: wish.content,
        pool: wish.pool.clone(),
        file: format!("{folder}/{}.lun", wish.name),
        allocation: pool.map_or(Allocation::Thin, |pool| pool.allocation),
    }
}

fn target(
    document: &LunDocument,
    initiator: &LunInitiator,
    wishes: &[LunWish],
    luns: &[DesignedLun],
) -> Target {
    let offered = wishes.iter().zip(luns).filter_map(|(wish, lun)| {
        let access = access(wish, initiator);
        (access != LunAccess::None).then(|| MappedLun {
            name: lun.name.clone(),
            number: lun.number,
            file: lun.file.clone(),
            is_read_only: access == LunAccess::Read,
        })
    });
    let account = format!("{}-{}", document.name, initiator.name);
    Target {
        iqn: format!("{}.{}", document.target, initiator.name.to_lowercase().replace('_', "-")),
        initiator: initiator.name.clone(),
        initiator_iqn: initiator.iqn.clone(),
        addresses: initiator.addresses.clone(),
        own_account: format!("{account}-target"),
        account,
        luns: offered.collect(),
    }
}

fn access(wish: &LunWish, initiator: &LunInitiator) -> LunAccess {
    let Some((writers, readers)) = &wish.access else {
        return initiator.access;
    };
    if writers.contains(&initiator.name) {
        LunAccess::ReadWrite
    } else if readers.contains(&initiator.name) {
        LunAccess::Read
    } else {
        LunAccess::None
    }
}
