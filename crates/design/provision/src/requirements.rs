//! Converts the results of a sizing into the plain values that a provision is built from.

use plan::Deployment;
use plan::deployment::{BackupMethod, Raid, RaidGroup, SiteModel as Model, Witness as Place};
use sizing::{Architecture, Build as BuildOfDisks, Decision, Key, ServerKind, Sheet};
use units::{Bytes, Nanos};

use super::pool::Pool;
use super::{
    Build, Megacycles, MetaCacheDisks, NetworkCompression, Places, Prefixes, ProvisionError,
    Purpose, Requirements,
};
use crate::layout::{Copies, Domain, LayoutRequest, Rules, Site, SiteModel, Witness};

impl Requirements {
    /// Derives the requirements of a sized deployment; `sheet` holds the results and must contain
    /// every one needed.
    pub fn of(
        deployment: &Deployment,
        sheet: &Sheet,
        architecture: Architecture,
    ) -> Result<Self, ProvisionError> {
        let copies = deployment.has_copies();
        let restores = deployment.data.restore_volume;
        let several = count(sheet, Key::VolumeDbsPerVolume)?;
        let pools = Places {
            first: pools(deployment, sheet, architecture, ServerKind::First)?,
            second: pools(deployment, sheet, architecture, ServerKind::Second)?,
            lagged: pools(deployment, sheet, architecture, ServerKind::Lagged)?,
        };
        Ok(Self {
            title: deployment.name.clone(),
            description: deployment.description.clone(),
            origin: deployment.origin.clone(),
            assumption: deployment.product.assumption(),
            provenance: deployment.provenance.clone(),
            groups: if copies { count(sheet, Key::ServerDags)? } else { 1 },
            mirrored: deployment.site_model() == Some(Model::ActiveActiveGroups),
            copies,
            witness: copies.then(|| witness(deployment)),
            wish: wish(deployment, sheet, architecture, several)?,
            mailboxes_per_database: value(sheet, Key::DatabaseMailboxes)?,
            database: gigabytes(sheet, Key::DatabaseSizeWithOverheadGb)?,
            grown_database: None,
            log: gigabytes(sheet, Key::LogSpaceGbPerDb)?,
            mailbox_data: mailbox_data(deployment, value(sheet, Key::DatabaseMailboxes)?),
            iops_per_database: value(sheet, Key::IoDbIopsPerDb)?,
            read_share: value(sheet, Key::IoReadFraction)?,
            sized_active: sized_active(deployment, sheet, architecture)?,
            megacycles: megacycles(deployment, sheet)?,
            database_volume: gigabytes(sheet, Key::VolumeDbVolumeGb)?,
            log_volume: architecture
                .logs_apart
                .then(|| gigabytes(sheet, Key::VolumeLogVolumeGb))
                .transpose()?,
            restore_volume: restores.then(|| gigabytes(sheet, Key::VolumeRestoreGb)).transpose()?,
            spare_volumes: Places {
                first: spares(sheet, &pools.first)?,
                second: spares(sheet, &pools.second)?,
                lagged: spares(sheet, &pools.lagged)?,
            },
            pools,
            metacache: MetaCacheDisks::of(deployment, sheet)?,
            build: build(deployment),
            names: Prefixes {
                server: deployment.names.server_prefix.clone(),
                group: deployment.names.dag_prefix.clone(),
                database: deployment.names.database_prefix.clone(),
            },
        })
    }
}

impl Requirements {
    /// Which copies may be activated, and which servers have votes.
    pub(crate) const fn rules(&self) -> Rules {
        Rules { activate_lagged: self.build.replay_lag_manager, witness: self.witness }
    }
}

/// Location of the witness; with a single site, in that site.
fn witness(deployment: &Deployment) -> Witness {
    let site = deployment.second_site.as_ref();
    match site.map(|site| site.witness) {
        None | Some(Place::First) => Witness::First,
        Some(Place::Second) => Witness::Second,
        Some(Place::Third) => Witness::Third,
    }
}

/// Active databases for which the servers of each kind are sized; 0 for those that the deployment
/// does not have.
fn sized_active(
    deployment: &Deployment,
    sheet: &Sheet,
    architecture: Architecture,
) -> Result<Places<usize>, ProvisionError> {
    let of =
        |kind, exists| if exists { count(sheet, Key::ServerWorstActiveDbs(kind)) } else { Ok(0) };
    Ok(Places {
        first: of(ServerKind::First, true)?,
        second: of(
            ServerKind::Second,
            deployment.site_model().is_some() && deployment.has_copies(),
        )?,
        lagged: of(ServerKind::Lagged, architecture.late_apart)?,
    })
}

/// Processor time of a database, including hypervisor and file system overhead.
fn megacycles(deployment: &Deployment, sheet: &Sheet) -> Result<Megacycles, ProvisionError> {
    let servers = &deployment.servers;
    let mailboxes = value(sheet, Key::DatabaseMailboxes)?;
    let hypervisor = if servers.virtual_machines { 1.0 + servers.hypervisor } else { 1.0 };
    let taken = mailboxes * hypervisor * deployment.file_system.processor_factor;
    let access = if servers.multi_role {
        taken * value(sheet, Key::MailboxesMcyclesClientAccess)?
    } else {
        0.0
    };
    let [first, second, lagged] = [ServerKind::First, ServerKind::Second, ServerKind::Lagged]
        .map(|kind| sheet.number(Key::ProcessorMcyclesAvailable(kind)));
    Ok(Megacycles {
        active: taken * value(sheet, Key::MailboxesMcyclesActive)? + access,
        passive: taken * value(sheet, Key::MailboxesMcyclesPassive)?,
        available: Places { first, second, lagged },
    })
}

/// Total quota of `mailboxes` mailboxes in the same mix as the tiers.
fn mailbox_data(deployment: &Deployment, mailboxes: f64) -> Bytes {
    let (mut all, mut limits) = (0.0, 0.0);
    for tier in &deployment.tiers {
        let grown = tier.mailboxes * (1.0 + tier.growth);
        all += grown;
        limits += grown * tier.size_limit.as_mib_f64();
    }
    mebibytes(mailboxes * limits / f64::max(all, 1.0))
}

fn build(deployment: &Deployment) -> Build {
    let availability = &deployment.availability;
    let tiers = deployment.tiers.iter();
    let retention = tiers.map(|tier| tier.deleted_item_retention).max();
    let old = ["2007", "2010", "2013"];
    Build {
        file_system: deployment.file_system.name.clone(),
        encryption: deployment.file_system.encryption.clone(),
        replay_lag: availability.replay_lag,
        truncation_lag: availability.truncation_lag,
        replay_lag_manager: availability.replay_lag_manager,
        link_mbps: deployment.replication.link_mbps,
        network_compression: network_compression(deployment),
        group_file_system: !old.iter().any(|year| deployment.product.name.ends_with(year)),
        maintenance_pause: deployment.product.maintenance_pause(),
        deleted_item_retention: retention.unwrap_or(Nanos::ZERO),
        circular_logging: deployment.has_copies()
            && deployment.backup.method == BackupMethod::Native,
    }
}

fn network_compression(deployment: &Deployment) -> NetworkCompression {
    if deployment.second_site.is_some() && deployment.replication.compression > 0.0 {
        NetworkCompression::Enabled
    } else {
        NetworkCompression::Disabled
    }
}

/// Copies of a database in a site.
const fn copies_of((available, lagged): (u32, u32)) -> Copies {
    Copies { available: available as usize, lagged: lagged as usize }
}

/// The layout of one group. Servers without copies are laid out together, with databases assigned
/// round-robin.
fn wish(
    deployment: &Deployment,
    sheet: &Sheet,
    architecture: Architecture,
    several: usize,
) -> Result<LayoutRequest, ProvisionError> {
    let servers = deployment.availability.servers_per_site as usize;
    let databases = count(sheet, Key::DatabaseCount)?;
    let primary = copies_of(deployment.copies_in_first_site());
    let late_apart = architecture.late_apart;
    let (model, sites) = match deployment.site_model() {
        None => {
            let only = site(deployment, sheet, late_apart, ServerKind::First, servers, primary)?;
            (SiteModel::Single, vec![only])
        }
        Some(_) if architecture.waiting_apart && servers > 1 => {
            return Err(ProvisionError::WaitingBesideActive);
        }
        Some(model) => {
            let (near, far) = copies_of_sites(deployment, late_apart);
            let (model, there) = match model {
                Model::ActiveActive => (SiteModel::ActiveActive, Key::ServerActiveDc2),
                Model::ActivePassive | Model::ActiveActiveGroups => {
                    (SiteModel::ActivePassive, Key::ServerPassiveDc2)
                }
            };
            let first = site(deployment, sheet, late_apart, ServerKind::First, servers, near)?;
            let servers = count(sheet, there)?;
            let second = site(deployment, sheet, late_apart, ServerKind::Second, servers, far)?;
            (model, vec![first, second])
        }
    };
    let all = if deployment.has_copies() { databases } else { databases * servers };
    Ok(LayoutRequest {
        model,
        sites,
        primary,
        secondary: copies_of(deployment.copies_in_second_site()),
        databases: all,
        databases_per_volume: several,
    })
}

/// Copies of a database for which each site's servers have room. If lagged copies have separate
/// servers, both of two active sites get the larger numbers, because each is the near site of some
/// databases and the far site of others.
fn copies_of_sites(deployment: &Deployment, late_apart: bool) -> (Copies, Copies) {
    let near = copies_of(deployment.copies_in_first_site());
    let far = copies_of(deployment.copies_in_second_site());
    if !late_apart || deployment.site_model() != Some(Model::ActiveActive) {
        return (near, far);
    }
    let most = Copies {
        available: near.available.max(far.available),
        lagged: near.lagged.max(far.lagged),
    };
    (most, most)
}

/// A site, with failure domains if the deployment names some, and with separate servers for lagged
/// copies if it asks for them.
fn site(
    deployment: &Deployment,
    sheet: &Sheet,
    late_apart: bool,
    kind: ServerKind,
    servers: usize,
    copies: Copies,
) -> Result<Site, ProvisionError> {
    let apart = late_apart && copies.lagged > 0;
    let shared = copies.available + if apart { 0 } else { copies.lagged };
    let domains = (deployment.names.failure_domains_per_site as usize).max(1);
    if !servers.is_multiple_of(domains) || !shared.is_multiple_of(domains) {
        return Err(ProvisionError::Domains { domains, servers, copies: shared });
    }
    let domain =
        Domain { servers: servers / domains, copies: shared / domains, only_lagged: false };
    let mut site = Site { domains: vec![domain; domains] };
    if apart {
        site.domains.push(Domain {
            servers: count(sheet, Key::ServerLagged(kind))?,
            copies: copies.lagged,
            only_lagged: true,
        });
    }
    Ok(site)
}

/// Redundant groups rebuild themselves; spare volumes are single disks.
fn spares(sheet: &Sheet, pools: &[(Purpose, Pool)]) -> Result<usize, ProvisionError> {
    if pools.is_empty() { count(sheet, Key::VolumeAutoreseed) } else { Ok(0) }
}

/// The redundant groups of a kind of server; empty if there are no such servers, or each volume is
/// a disk.
fn pools(
    deployment: &Deployment,
    sheet: &Sheet,
    architecture: Architecture,
    kind: ServerKind,
) -> Result<Vec<(Purpose, Pool)>, ProvisionError> {
    let storage = &deployment.storage;
    let (there, build, disks) = match kind {
        ServerKind::First => (true, architecture.first, &storage.first),
        ServerKind::Second => {
            (deployment.second_site.is_some(), architecture.second, &storage.second)
        }
        ServerKind::Lagged => (architecture.late_apart, architecture.first, &storage.first),
    };
    if !there || build != BuildOfDisks::Raid {
        return Ok(Vec::new());
    }
    let mut sets = vec![(
        Purpose::Databases,
        Key::DiskRaidChoiceDb(kind),
        Key::DiskRaidDisksDb(kind),
        &disks.database,
    )];
    if architecture.logs_apart {
        sets.push((Purpose::Logs, Key::DiskRaidChoiceLog, Key::DiskRaidDisksLog, &disks.log));
    }
    if deployment.data.restore_volume {
        sets.push((
            Purpose::Restore,
            Key::DiskRaidChoiceRestore,
            Key::DiskRaidDisksRestore,
            &disks.restore,
        ));
    }
    let mut pools = Vec::new();
    for (purpose, choice, number, disk) in sets {
        let Some(Decision::Raid(level)) = sheet.decision(choice) else {
            return Err(ProvisionError::NotSized { key: choice });
        };
        let group = group_of(deployment, purpose, level);
        let members = (group.data + group.redundancy).max(1) as usize;
        let pool = Pool {
            level,
            groups: u32::try_from(count(sheet, number)? / members).unwrap_or(u32::MAX),
            data_disks: group.data,
            redundant_disks: group.redundancy,
            raw: disk.capacity,
            formatted: disk.capacity,
            disk_iops: disk.random_iops,
        };
        if pool.groups > 0 {
            pools.push((purpose, pool));
        }
    }
    Ok(pools)
}

fn group_of(deployment: &Deployment, purpose: Purpose, level: Raid) -> RaidGroup {
    let groups = &deployment.storage.groups;
    match (purpose, level) {
        (Purpose::Restore, _) => groups.restore,
        (_, Raid::Raid10) => groups.raid10,
        (_, Raid::Raid5) => groups.raid5,
        (_, Raid::Raid6) => groups.raid6,
    }
}

/// The result under `key`, which must exist for every deployment.
fn value(sheet: &Sheet, key: Key) -> Result<f64, ProvisionError> {
    let found = sheet.number(key).filter(|value| value.is_finite());
    found.ok_or(ProvisionError::NotSized { key })
}

pub(super) fn count(sheet: &Sheet, key: Key) -> Result<usize, ProvisionError> {
    value(sheet, key).map(whole)
}

/// Rounds a possibly fractional count up; rounding error in the last digit does not add one.
fn whole(value: f64) -> usize {
    let up = (value - 1e-9).ceil().clamp(0.0, 1e6);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let up = up as usize;
    up
}

/// Gigabytes of a sheet as bytes.
fn gigabytes(sheet: &Sheet, key: Key) -> Result<Bytes, ProvisionError> {
    Ok(mebibytes(value(sheet, key)? * 1024.0))
}

/// Up to whole mebibytes.
fn mebibytes(value: f64) -> Bytes {
    let up = (value - 1e-6).ceil().clamp(0.0, 1e12);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let up = up as u64;
    Bytes::from_mib(up)
}
