//! The contents of a volume, and whether single disks suffice (facts 5.3 and 5.4).

use plan::deployment::{BackupFrequency, BackupMethod, Deployment, SiteModel, StorageChoice};

use crate::decision::{Build, Decision, VolumeArchitecture};
use crate::key::{Key, ServerKind};
use crate::quirk::Quirk;
use crate::work::Work;

/// Choices that follow from the deployment alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// How databases are laid out on volumes.
    pub volumes: VolumeArchitecture,
    /// Whether logs are on separate volumes.
    pub logs_apart: bool,
    /// Disks of the first site.
    pub first: Build,
    /// Disks of the second site.
    pub second: Build,
    /// Whether lagged copies are on servers that hold nothing else.
    pub late_apart: bool,
    /// Whether copies of a site's databases are on standby in the other site on servers that hold
    /// nothing else, next to those that serve users.
    pub waiting_apart: bool,
}

impl Build {
    /// Returns the build that the deployment asks for; if it leaves that open, single disks if they
    /// are allowed.
    const fn chosen(choice: StorageChoice, may_be_single: bool) -> Self {
        match choice {
            StorageChoice::Calculated if may_be_single => Self::Jbod,
            StorageChoice::Calculated | StorageChoice::Raid => Self::Raid,
            StorageChoice::Jbod => Self::Jbod,
        }
    }
}

/// Decides, and records the decision with its reason.
pub(crate) fn architecture(work: &mut Work<'_>) -> Architecture {
    let deployment = work.deployment;
    let logs_apart = logs_apart(deployment);
    let volumes = volumes(deployment, logs_apart);
    let several = volumes == VolumeArchitecture::SeveralDatabases;
    let considered = deployment.storage.consider_jbod && !logs_apart;
    let late_apart = late_apart(work, several);
    let waiting_apart = waiting_apart(deployment, several);
    let first = considered && first_may(deployment, several, late_apart, waiting_apart);
    let second = considered && second_may(deployment, several, late_apart);
    let found = Architecture {
        volumes,
        logs_apart,
        first: Build::chosen(deployment.storage.choice, first),
        second: Build::chosen(deployment.storage.choice, second),
        late_apart,
        waiting_apart,
    };
    write_down(work, found);
    found
}

/// The workbook forgets servers for lagged copies if a volume holds several databases.
fn late_apart(work: &mut Work<'_>, several: bool) -> bool {
    let wanted = work.deployment.has_own_servers_for_late_copies();
    if wanted && several {
        work.note(Quirk::OwnServersForgotten, Key::ServerLaggedPerDag, None);
    }
    wanted && !(several && work.deployment.is_compatible())
}

/// Only the workbook keeps standby servers next to active ones in both sites. The layout spreads
/// all copies over all servers of a site, which needs fewer.
fn waiting_apart(deployment: &Deployment, several: bool) -> bool {
    let site = deployment.second_site.as_ref();
    let both = site.filter(|site| site.model == SiteModel::ActiveActive);
    let dedicated = both.is_some_and(|site| site.dedicated_servers);
    dedicated && !several && deployment.is_compatible()
}

fn write_down(work: &mut Work<'_>, found: Architecture) {
    work.sheet.decide(
        Key::VolumeDbLogIsolated,
        Decision::Answer(found.logs_apart),
        "apart without copies, or for hardware snapshots",
    );
    work.sheet.decide(
        Key::VolumeArchitecture,
        Decision::Volumes(found.volumes),
        "several databases with copies on single disks; else by backup",
    );
    work.sheet.decide(
        Key::DiskArchitecture(ServerKind::First),
        Decision::Build(found.first),
        "single disks with three copies that can take over, late ones not alone",
    );
    if work.deployment.second_site.is_some() {
        work.sheet.decide(
            Key::DiskArchitecture(ServerKind::Second),
            Decision::Build(found.second),
            "single disks with two copies there",
        );
    }
}

fn logs_apart(deployment: &Deployment) -> bool {
    !deployment.has_copies() || deployment.backup.method == BackupMethod::HardwareVss
}

fn volumes(deployment: &Deployment, logs_apart: bool) -> VolumeArchitecture {
    if !logs_apart && several_databases(deployment) {
        VolumeArchitecture::SeveralDatabases
    } else if !logs_apart {
        VolumeArchitecture::OnePerDatabase
    } else if deployment.backup.method == BackupMethod::HardwareVss
        || deployment.backup.frequency == BackupFrequency::DailyFull
    {
        VolumeArchitecture::TwoPerDatabase
    } else {
        VolumeArchitecture::TwoPerBackupSet
    }
}

/// Whether the copies can be spread so that a volume holds several databases.
fn several_databases(deployment: &Deployment) -> bool {
    let storage = &deployment.storage;
    let wanted = storage.several_databases_per_volume && storage.consider_jbod;
    if !wanted || !deployment.has_copies() || deployment.total_copies() < 3 {
        return false;
    }
    let (copies, lagged) = deployment.copies_in_first_site();
    let (there, lagged_there) = deployment.copies_in_second_site();
    let (here, there) = (copies + lagged, there + lagged_there);
    let servers = deployment.availability.servers_per_site;
    match deployment.site_model() {
        None => true,
        Some(SiteModel::ActiveActive) => here == there,
        Some(_) => here == there || servers.is_multiple_of(here),
    }
}

fn first_may(
    deployment: &Deployment,
    several: bool,
    late_apart: bool,
    waiting_apart: bool,
) -> bool {
    let (_, lagged) = deployment.copies_in_first_site();
    let both = deployment.site_model() == Some(SiteModel::ActiveActive);
    let alone_there = both && !waiting_apart && copies_there(deployment, several) == 1;
    let late_ones_may = late_apart || late_copies_may(lagged, several);
    deployment.availability.copies >= 3 && late_ones_may && !alone_there
}

fn second_may(deployment: &Deployment, several: bool, late_apart: bool) -> bool {
    let (copies, lagged) = deployment.copies_in_second_site();
    let late_ones_may = late_apart || late_copies_may(lagged, several);
    copies > 0 && copies_there(deployment, several) >= 2 && late_ones_may
}

/// Copies in the second site that protect one another, on shared volumes including lagged ones.
fn copies_there(deployment: &Deployment, several: bool) -> u32 {
    let (copies, lagged) = deployment.copies_in_second_site();
    if several { copies + lagged } else { copies }
}

/// A single lagged copy on a dedicated disk has no neighbour to be seeded from.
const fn late_copies_may(lagged: u32, several: bool) -> bool {
    lagged == 0 || several || lagged >= 2
}
