//! Inputs of a deployment, named by the symbols of the published formulas.

use plan::Deployment;
use plan::deployment::{BackupMethod, SiteModel, StorageChoice};

/// Inputs, and values that follow from them alone (facts 5.3 and 5.4).
#[expect(clippy::struct_excessive_bools, reason = "the published formulas ask for each of them")]
pub(super) struct GivenInputs<'d> {
    pub deployment: &'d Deployment,
    /// Whether there are copies that can take over.
    pub copies: bool,
    /// Servers with active databases in a site; groups; the given number of groups.
    pub s: f64,
    pub d: f64,
    pub dags: f64,
    /// Number by which totals are divided to get a group's share.
    pub div: f64,
    /// Copies of a database: all; those of each site that can take over; the lagged ones of each
    /// site.
    pub c: f64,
    pub p: [f64; 2],
    pub l: [f64; 2],
    /// Whether there are two sites; whether both are active in one group; whether the second is
    /// only a standby for each group.
    pub two: bool,
    pub both: bool,
    pub waits: bool,
    /// Whether databases and logs are on separate volumes.
    pub isolated: bool,
    /// Whether a volume holds several databases.
    pub several: bool,
    /// Whether lagged copies are on dedicated servers; whether there are standby servers besides
    /// active ones.
    pub own: bool,
    pub dr: bool,
    /// Whether each site uses single disks without RAID.
    pub jbod: [bool; 2],
}

impl<'d> GivenInputs<'d> {
    pub(super) fn of(deployment: &'d Deployment) -> Self {
        let availability = &deployment.availability;
        let copies = availability.copies > 1;
        let model = deployment.second_site.as_ref().map(|site| site.model);
        let there = deployment.second_site.as_ref();
        let (p2, l2) = there.map_or((0, 0), |site| (site.copies, site.lagged_copies));
        let late = if copies { availability.lagged_copies } else { 0 };
        let p = [f64::from(availability.copies - p2), f64::from(p2)];
        let l = [f64::from(late - l2.min(late)), f64::from(l2.min(late))];
        let dags = f64::from(availability.dags);
        let groups = model == Some(SiteModel::ActiveActiveGroups);
        let s = f64::from(availability.servers_per_site);
        let d = if groups { 2.0 * dags } else { dags };
        let mut given = Self {
            deployment,
            copies,
            s,
            d,
            dags,
            div: if copies { d } else { s },
            c: f64::from(availability.copies + late),
            p,
            l,
            two: model.is_some(),
            both: model == Some(SiteModel::ActiveActive),
            waits: matches!(model, Some(SiteModel::ActivePassive | SiteModel::ActiveActiveGroups)),
            isolated: !copies || deployment.backup.method == BackupMethod::HardwareVss,
            several: false,
            own: false,
            dr: false,
            jbod: [false; 2],
        };
        given.several = given.may_be_several();
        let apart = availability.lagged_on_own_servers && late > 0;
        given.own = apart && !given.several;
        let dedicated = there.is_some_and(|site| site.dedicated_servers);
        given.dr = given.both && dedicated && !given.several;
        given.jbod = given.single_disks();
        given
    }

    /// Copies of a database in each site.
    pub(super) fn held(&self) -> [f64; 2] {
        [self.p[0] + self.l[0], self.p[1] + self.l[1]]
    }

    fn may_be_several(&self) -> bool {
        let storage = &self.deployment.storage;
        let wanted = storage.several_databases_per_volume && storage.consider_jbod;
        let [here, there] = self.held();
        let alike = (here - there).abs() < 0.5;
        let spread = if self.both {
            alike
        } else if self.waits {
            alike || self.s % here == 0.0
        } else {
            true
        };
        wanted && self.copies && self.c >= 3.0 && !self.isolated && spread
    }

    fn single_disks(&self) -> [bool; 2] {
        let there = if self.several { self.p[1] + self.l[1] } else { self.p[1] };
        let late = [0, 1]
            .map(|site| self.own || self.l[site] == 0.0 || self.several || self.l[site] >= 2.0);
        let copies = f64::from(self.deployment.availability.copies);
        let considered = self.deployment.storage.consider_jbod && !self.isolated;
        let alone = self.both && !self.dr && there == 1.0;
        let first = considered && copies >= 3.0 && late[0] && !alone;
        let second = considered && self.two && self.p[1] > 0.0 && there >= 2.0 && late[1];
        [first, second].map(|may| match self.deployment.storage.choice {
            StorageChoice::Calculated => may,
            StorageChoice::Raid => false,
            StorageChoice::Jbod => true,
        })
    }
}
