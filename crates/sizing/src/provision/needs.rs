//! What a sizing says, in the plain values that a provision is made of.

use plan::Deployment;
use plan::deployment::{BackupMethod, RaidGroup, SiteModel as Model, Witness as Place};
use units::{Bytes, Nanos};

use super::pool::{Level, Pool};
use super::{
    Build, Megacycles, Needs, NetworkCompression, Places, Prefixes, ProvisionError, Purpose,
};
use crate::layout::{Copies, Domain, Rules, Site, SiteModel, Wish, Witness};
use crate::sheet::{Sheet, Value};

impl Needs {
    /// The needs of a deployment that has been sized; `sheet` holds the results.
    pub fn of(deployment: &Deployment, sheet: &Sheet) -> Result<Self, ProvisionError> {
        let apart = word(sheet, "vol.db_log_isolated") == Some("Yes");
        let copies = deployment.has_copies();
        let restores = deployment.data.restore_volume;
        let several = count(sheet, "vol.dbs_per_volume")?;
        let of = |kind, disks| pools(deployment, sheet, kind, disks);
        let pools = Places {
            first: of("", &deployment.storage.first)?,
            second: of("_dc2", &deployment.storage.second)?,
            lagged: of("_lagged", &deployment.storage.first)?,
        };
        Ok(Self {
            title: deployment.name.clone(),
            provenance: deployment.provenance.clone(),
            groups: if copies { count(sheet, "srv.dags")? } else { 1 },
            mirrored: deployment.site_model() == Some(Model::ActiveActiveGroups),
            copies,
            witness: copies.then(|| witness(deployment)),
            wish: wish(deployment, sheet, several)?,
            mailboxes_per_database: value(sheet, "db.mailboxes")?,
            database: gigabytes(sheet, "db.size_with_overhead_gb")?,
            grown_database: None,
            log: gigabytes(sheet, "log.space_gb_per_db")?,
            mailbox_data: mailbox_data(deployment, value(sheet, "db.mailboxes")?),
            iops_per_database: value(sheet, "io.db_iops_per_db")?,
            read_share: value(sheet, "io.read_fraction")?,
            megacycles: megacycles(deployment, sheet)?,
            database_volume: gigabytes(sheet, "vol.db_volume_gb")?,
            log_volume: apart
                .then(|| gigabytes(sheet, "vol.log_volume_gb"))
                .transpose()?,
            restore_volume: restores
                .then(|| gigabytes(sheet, "vol.restore_gb"))
                .transpose()?,
            spare_volumes: Places {
                first: spares(sheet, &pools.first)?,
                second: spares(sheet, &pools.second)?,
                lagged: spares(sheet, &pools.lagged)?,
            },
            pools,
            build: build(deployment),
            names: Prefixes {
                server: deployment.names.server_prefix.clone(),
                group: deployment.names.dag_prefix.clone(),
                database: deployment.names.database_prefix.clone(),
            },
        })
    }
}

impl Needs {
    /// What may be activated, and who has votes.
    pub(crate) const fn rules(&self) -> Rules {
        Rules {
            activate_lagged: self.build.replay_lag_manager,
            witness: self.witness,
        }
    }
}

/// Where the witness stands; in the only site where there is one.
fn witness(deployment: &Deployment) -> Witness {
    let site = deployment.second_site.as_ref();
    match site.map(|site| site.witness) {
        None | Some(Place::First) => Witness::First,
        Some(Place::Second) => Witness::Second,
        Some(Place::Third) => Witness::Third,
    }
}

/// Processor time of a database, with what hypervisor and file system take.
fn megacycles(deployment: &Deployment, sheet: &Sheet) -> Result<Megacycles, ProvisionError> {
    let servers = &deployment.servers;
    let mailboxes = value(sheet, "db.mailboxes")?;
    let hypervisor = if servers.virtual_machines {
        1.0 + servers.hypervisor
    } else {
        1.0
    };
    let taken = mailboxes * hypervisor * deployment.file_system.processor_factor;
    let of = |key| value(sheet, key).map(|each| taken * each);
    let access = if servers.multi_role {
        of("mailboxes.mcycles_client_access")?
    } else {
        0.0
    };
    let available = |place| {
        let key = format!("cpu.mcycles_available_{place}");
        sheet.find(&key).map(|number| number.value())
    };
    Ok(Megacycles {
        active: of("mailboxes.mcycles_active")? + access,
        passive: of("mailboxes.mcycles_passive")?,
        available: Places {
            first: available("dc1"),
            second: available("dc2"),
            lagged: available("lagged"),
        },
    })
}

/// Limits of `mailboxes` mailboxes that are mixed as the tiers are.
fn mailbox_data(deployment: &Deployment, mailboxes: f64) -> Bytes {
    let tiers = || deployment.tiers.iter();
    let grown = |tier: &plan::deployment::Tier| tier.mailboxes * (1.0 + tier.growth);
    let all: f64 = tiers().map(grown).sum();
    let limits: f64 = tiers()
        .map(|tier| grown(tier) * tier.size_limit.as_mib_f64())
        .sum();
    mebibytes(mailboxes * limits / all.max(1.0))
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
        network_compression: network_compression(deployment),
        group_file_system: !old
            .iter()
            .any(|year| deployment.product.name.ends_with(year)),
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

/// The layout of one group. Servers without copies are laid out in one go: databases go round.
fn wish(deployment: &Deployment, sheet: &Sheet, several: usize) -> Result<Wish, ProvisionError> {
    let servers = deployment.availability.servers_per_site as usize;
    let databases = count(sheet, "db.count")?;
    let pair = |(available, lagged): (u32, u32)| Copies {
        available: available as usize,
        lagged: lagged as usize,
    };
    let primary = pair(deployment.copies_in_first_site());
    let secondary = pair(deployment.copies_in_second_site());
    let (model, sites) = match deployment.site_model() {
        None => (
            SiteModel::Single,
            vec![site(deployment, sheet, 0, servers, primary)?],
        ),
        Some(model) => {
            if sheet.find("srv.passive_dc1").is_some() {
                return Err(ProvisionError::WaitingBesideActive);
            }
            let there = match model {
                Model::ActiveActive => count(sheet, "srv.active_dc2")?,
                Model::ActivePassive | Model::ActiveActiveGroups => {
                    count(sheet, "srv.passive_dc2")?
                }
            };
            let apart = late_copies_apart(sheet);
            let most = Copies {
                available: primary.available.max(secondary.available),
                lagged: primary.lagged.max(secondary.lagged),
            };
            // Each of two active sites is near for some databases and far for others.
            let (first, second) = if apart && model == Model::ActiveActive {
                (most, most)
            } else {
                (primary, secondary)
            };
            let sites = vec![
                site(deployment, sheet, 0, servers, first)?,
                site(deployment, sheet, 1, there, second)?,
            ];
            match model {
                Model::ActiveActive => (SiteModel::ActiveActive, sites),
                Model::ActivePassive | Model::ActiveActiveGroups => {
                    (SiteModel::ActivePassive, sites)
                }
            }
        }
    };
    let all = if deployment.has_copies() {
        databases
    } else {
        databases * servers
    };
    Ok(Wish {
        model,
        sites,
        primary,
        secondary,
        databases: all,
        databases_per_volume: several,
    })
}

/// Whether there are servers that hold nothing but late copies.
fn late_copies_apart(sheet: &Sheet) -> bool {
    sheet.find("srv.lagged_per_dag").is_some()
}

/// A site, in failure domains where the deployment names some, and with servers of their own for
/// late copies where it says so.
fn site(
    deployment: &Deployment,
    sheet: &Sheet,
    number: usize,
    servers: usize,
    copies: Copies,
) -> Result<Site, ProvisionError> {
    let apart = late_copies_apart(sheet) && copies.lagged > 0;
    let shared = copies.available + if apart { 0 } else { copies.lagged };
    let domains = (deployment.names.failure_domains_per_site as usize).max(1);
    if !servers.is_multiple_of(domains) || !shared.is_multiple_of(domains) {
        return Err(ProvisionError::Domains {
            domains,
            servers,
            copies: shared,
        });
    }
    let domain = Domain {
        servers: servers / domains,
        copies: shared / domains,
        only_lagged: false,
    };
    let mut site = Site {
        domains: vec![domain; domains],
    };
    if apart {
        site.domains.push(Domain {
            servers: count(sheet, &format!("srv.lagged_dc{}", number + 1))?,
            copies: copies.lagged,
            only_lagged: true,
        });
    }
    Ok(site)
}

/// Redundant groups mend themselves; spare volumes are single disks.
fn spares(sheet: &Sheet, pools: &[(Purpose, Pool)]) -> Result<usize, ProvisionError> {
    if pools.is_empty() {
        count(sheet, "vol.autoreseed")
    } else {
        Ok(0)
    }
}

/// The redundant groups of a kind of server; none where each volume is a disk.
fn pools(
    deployment: &Deployment,
    sheet: &Sheet,
    kind: &str,
    disks: &plan::deployment::Disks,
) -> Result<Vec<(Purpose, Pool)>, ProvisionError> {
    let site = if kind == "_dc2" { "dc2" } else { "dc1" };
    if word(sheet, &format!("disk.architecture_{site}")) != Some("RAID") {
        return Ok(Vec::new());
    }
    let choice = format!("disk.raid_choice_db{kind}");
    let number = format!("disk.raid_disks_db{kind}");
    let sets = [
        (
            Purpose::Databases,
            choice.as_str(),
            number.as_str(),
            &disks.database,
        ),
        (
            Purpose::Logs,
            "disk.raid_choice_log",
            "disk.raid_disks_log",
            &disks.log,
        ),
        (
            Purpose::Restore,
            "disk.raid_choice_restore",
            "disk.raid_disks_restore",
            &disks.restore,
        ),
    ];
    let mut pools = Vec::new();
    for (purpose, choice, number, disk) in sets {
        let level = match word(sheet, choice) {
            None => continue,
            Some("RAID-5") => Level::Raid5,
            Some("RAID-6") => Level::Raid6,
            Some(_) => Level::Raid10,
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

fn group_of(deployment: &Deployment, purpose: Purpose, level: Level) -> RaidGroup {
    let groups = &deployment.storage.groups;
    match (purpose, level) {
        (Purpose::Restore, _) => groups.restore,
        (_, Level::Raid10) => groups.raid10,
        (_, Level::Raid5) => groups.raid5,
        (_, Level::Raid6) => groups.raid6,
    }
}

fn word<'s>(sheet: &'s Sheet, key: &str) -> Option<&'s str> {
    match &sheet.fact(key)?.value {
        Value::Word(word) => Some(word),
        Value::Number(_) => None,
    }
}

/// The result under `key`, which every deployment has.
fn value(sheet: &Sheet, key: &str) -> Result<f64, ProvisionError> {
    let found = sheet.find(key).map(|number| number.value());
    found
        .filter(|value| value.is_finite())
        .ok_or_else(|| ProvisionError::NotSized {
            key: key.to_owned(),
        })
}

fn count(sheet: &Sheet, key: &str) -> Result<usize, ProvisionError> {
    value(sheet, key).map(whole)
}

/// A count that may come as a fraction; a last digit of rounding error does not make one more.
fn whole(value: f64) -> usize {
    let up = (value - 1e-9).ceil().clamp(0.0, 1e6);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped above"
    )]
    let up = up as usize;
    up
}

/// Gigabytes of a sheet as bytes.
fn gigabytes(sheet: &Sheet, key: &str) -> Result<Bytes, ProvisionError> {
    Ok(mebibytes(value(sheet, key)? * 1024.0))
}

/// Up to whole mebibytes.
fn mebibytes(value: f64) -> Bytes {
    let up = (value - 1e-6).ceil().clamp(0.0, 1e12);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped above"
    )]
    let up = up as u64;
    Bytes::from_mib(up)
}
