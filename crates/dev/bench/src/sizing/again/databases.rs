//! Databases per volume, the largest database, the number of databases, copies and servers (facts
//! 5.3, 5.5 to 5.7).

use plan::deployment::{BackupFrequency, BackupMethod, SiteModel};

use super::given::GivenInputs;
use super::tiers::Tiers;
use super::{Values, down, looked_up, multiple, round, up};

/// Number of backup sets from each number of databases on a server on (facts 4.6).
#[rustfmt::skip]
const BACKUP_SETS: [(f64, f64); 31] = [
    (1., 1.), (8., 2.), (9., 3.), (10., 2.), (11., 3.), (14., 2.), (15., 3.), (16., 4.),
    (18., 3.), (20., 4.), (21., 3.), (22., 4.), (25., 5.), (26., 4.), (29., 5.), (36., 6.),
    (45., 9.), (48., 8.), (49., 7.), (50., 10.), (56., 8.), (60., 10.), (63., 9.), (66., 11.),
    (70., 10.), (72., 12.), (75., 15.), (77., 11.), (84., 12.), (91., 13.), (98., 14.),
];

/// Figures of databases and servers.
#[derive(Clone, Copy, Default)]
pub(super) struct Databases {
    pub count: f64,
    pub symmetrical: f64,
    /// Databases whose home is in each site.
    pub home: [f64; 2],
    pub mailboxes: f64,
    /// Copies on a server, databases on a volume, and the workbook's number of volumes.
    pub held: f64,
    pub per_volume: f64,
    pub volumes: f64,
    /// Servers of each site: active ones, standby ones, and separate ones for lagged copies.
    pub active: [f64; 2],
    pub waiting: [f64; 2],
    pub late: [f64; 2],
    /// Whether volumes hold backup sets, and whether they are pairs with one database each.
    pub sets: bool,
    pub pairs: bool,
    /// Lagged copies of each site's databases.
    pub lag: [f64; 2],
}

impl Databases {
    pub(super) fn of(given: &GivenInputs<'_>, tiers: &Tiers, values: &mut Values) -> Self {
        let mut found = Self::default();
        let backup = given.deployment.backup;
        let pairs = backup.method == BackupMethod::HardwareVss
            || backup.frequency == BackupFrequency::DailyFull;
        found.pairs = given.isolated && pairs;
        found.sets = given.isolated && !pairs;
        let largest = largest(given, values);
        found.per_volume = Self::databases_of_volume(given, largest);
        values.put("db.per_volume", found.per_volume);
        let target = target(given, tiers, largest, found.per_volume, values);
        found.counted(given, tiers.mailboxes / given.div, target, values);
        found.mailboxes = tiers.mailboxes / given.div / found.count;
        values.put("db.count", found.count);
        values.put("db.mailboxes", found.mailboxes);
        found.copies(given);
        found.servers(given);
        found.volumes();
        found.write(given, values);
        found
    }

    /// Databases on a volume; with backup sets the number follows from the copies instead.
    fn databases_of_volume(given: &GivenInputs<'_>, largest: f64) -> f64 {
        if !given.several {
            return 1.0;
        }
        let halved = given.c % 2.0 == 0.0 && !given.deployment.storage.databases_equal_copies;
        let share = if halved { given.c / 2.0 } else { given.c };
        if given.both {
            let room = formatted(given, 0).min(formatted(given, 1));
            share.min(down(room / largest)).max(1.0)
        } else if given.waits {
            let [here, there] = given.held();
            here.max(there)
        } else {
            share
        }
    }

    /// Counts the databases, starting from the minimum (facts 5.6).
    fn counted(
        &mut self,
        given: &GivenInputs<'_>,
        mailboxes: f64,
        target: f64,
        values: &mut Values,
    ) {
        let most = self.most(given);
        let needed = up(mailboxes / target);
        let needed = if needed < 2.0 { needed } else { multiple(needed, 2.0) };
        let least = needed.min(most);
        let late = if given.own { 0.0 } else { given.l[0] };
        let block = orders(given.s, given.p[0] + late);
        self.symmetrical = if given.copies { multiple(least, block) } else { least };
        values.put("db.max_count_per_dag", most);
        values.put("db.count_minimum", least);
        values.put("db.count_symmetrical", self.symmetrical);
        let data = &given.deployment.data;
        let custom = data.database_count.map(f64::from);
        let before = match custom {
            Some(count) => count.min(most),
            None if !given.copies => least,
            None => self.automatic(given, least, most),
        };
        values.put("db.count_before_group_rounding", before);
        self.count = if !given.copies || custom.is_some_and(|count| count > most) {
            before
        } else {
            before + before % 4.0
        };
        let limited = given.deployment.storage.volumes_per_server.filter(|_| custom.is_none());
        if let Some(volumes) = limited.filter(|_| given.copies) {
            self.count = self.count.min(4.0 * f64::from(volumes));
        }
    }

    /// The automatic count before it is rounded to groups.
    fn automatic(&self, given: &GivenInputs<'_>, least: f64, most: f64) -> f64 {
        let less = orders(given.s, given.p[0]);
        if given.deployment.data.symmetrical {
            let over = self.symmetrical - most;
            if over < 0.0 {
                return self.symmetrical;
            }
            if over > 0.0 && over < less && self.symmetrical != less {
                return self.symmetrical - less;
            }
        }
        if least == most {
            return least;
        }
        if least <= 1.0 {
            return 1.0;
        }
        multiple(least, if given.both { 2.0 * given.s } else { given.s })
    }

    /// Maximum number of databases in a group.
    fn most(&self, given: &GivenInputs<'_>) -> f64 {
        if !given.copies {
            return if self.sets { 98.0 } else { 100.0 };
        }
        let each =
            if given.several { down(100.0 / self.per_volume) * self.per_volume } else { 100.0 };
        let late = if given.own { 0.0 } else { given.l[0] };
        down(each * given.s / (given.p[0] + late))
    }

    /// Databases by home site, and copies on a server (facts 5.7).
    fn copies(&mut self, given: &GivenInputs<'_>) {
        let half = up(self.count / 2.0);
        self.home = if given.both { [half, self.count - half] } else { [self.count, 0.0] };
        let late = given.l[0] + given.l[1];
        self.lag = if given.both {
            [late * self.home[0], late * self.home[1]]
        } else {
            [given.l[0] * self.count, given.l[1] * self.home[0]]
        };
        if !given.copies {
            self.held = self.home[0];
            return;
        }
        let away = if given.both && !given.dr { given.p[1] * self.home[1] } else { 0.0 };
        let lag = if given.own { 0.0 } else { self.lag[0] };
        self.held = round((given.p[0] * self.home[0] + away + lag) / given.s);
        if let Some(volumes) = given.deployment.storage.volumes_per_server {
            self.held = self.held.min(f64::from(volumes) * self.per_volume);
        }
    }

    fn servers(&mut self, given: &GivenInputs<'_>) {
        let held = self.held.max(1.0);
        let [near, far] = self.home;
        let lag = if given.own { 0.0 } else { self.lag[1] };
        let late = if given.l[1] > 0.0 { lag } else { 0.0 };
        self.active[0] = given.s;
        if given.both {
            let away = if given.dr { 0.0 } else { given.p[1] * near };
            self.active[1] = given.s.min(up((given.p[0] * far + away + lag) / held));
            if given.dr && given.s > 1.0 {
                self.waiting[0] = up((given.p[1] * far + late) / held);
                self.waiting[1] = given.s.min(up((given.p[1] * near + late) / held));
            }
        } else if given.waits {
            self.waiting[1] = given.s.min(up((given.p[1] * near + late) / held));
        }
        if given.own {
            self.late = self.lag.map(|copies| up(copies / held));
        }
    }

    /// Volumes as the workbook counts them.
    fn volumes(&mut self) {
        if self.sets {
            self.volumes = looked_up(&BACKUP_SETS, self.held);
            self.per_volume = round(self.held / self.volumes);
        } else {
            self.volumes = self.held / self.per_volume;
        }
    }

    /// Servers of a group, without those for lagged copies.
    pub(super) fn of_group(&self) -> f64 {
        self.active.iter().chain(&self.waiting).sum()
    }

    fn write(&self, given: &GivenInputs<'_>, values: &mut Values) {
        let words = ["1 Volume / DB", "Multiple DBs / Volume", "2 Volumes / DB"];
        let word = match (given.several, self.pairs, self.sets) {
            (true, ..) => words[1],
            (_, true, _) => words[2],
            (_, _, true) => "2 Volumes / Backup Set",
            _ => words[0],
        };
        values.word("vol.architecture", word);
        values.word("vol.db_log_isolated", if given.isolated { "Yes" } else { "No" });
        let build = given.jbod.map(|single| if single { "JBOD" } else { "RAID" });
        values.word("disk.architecture_dc1", build[0]);
        if given.two {
            values.word("disk.architecture_dc2", build[1]);
        }
        values.put("db.active_dc1", self.home[0]);
        values.put("db.active_dc2", self.home[1]);
        values.put("srv.db_copies", self.held);
        values.put("srv.active_dc1", self.active[0]);
        values.put("srv.active_dc2", self.active[1]);
        values.put("srv.passive_dc1", self.waiting[0]);
        values.put("srv.passive_dc2", self.waiting[1]);
        values.put("srv.lagged_per_dag", self.late[0] + self.late[1]);
        values.put("srv.per_dag", self.of_group());
        values.put("srv.dags", given.d);
        values.put("vol.dbs_per_volume", self.per_volume);
        if given.several || self.sets {
            values.put("vol.db_volumes", self.volumes);
        }
    }
}

/// Number of ordered ways to place `k` copies on `s` servers.
fn orders(s: f64, k: f64) -> f64 {
    let mut found = 1.0;
    let mut factor = s;
    while factor > s - k && factor > 1.0 {
        found *= factor;
        factor -= 1.0;
    }
    found
}

/// Formatted capacity of a database disk of a site, in GB.
pub(super) fn formatted(given: &GivenInputs<'_>, site: usize) -> f64 {
    let storage = &given.deployment.storage;
    let disks = if site == 0 { &storage.first } else { &storage.second };
    disks.database.capacity.0 as f64 / 1_073_741_824.0
}

/// Size of the largest database (facts 5.5).
fn largest(given: &GivenInputs<'_>, values: &mut Values) -> f64 {
    let free = given.deployment.data.volume_free_space;
    let raw = given.deployment.storage.first.database.capacity.0 as f64 / 1e9;
    let mut disk = formatted(given, 0);
    if given.two {
        disk = disk.min(formatted(given, 1));
    }
    let calculated = if !given.copies {
        200.0
    } else if !given.jbod[0] {
        2_000.0
    } else if given.several {
        let k = sharing(given);
        disk / k * (1.0 - free) / (1.0 + 0.2 + 0.2 / k)
    } else if raw > 2_500.0 {
        2_000.0
    } else {
        up(disk * (1.0 - free) / 1.4)
    };
    let custom = given.deployment.data.largest_database;
    let custom = custom.map_or(f64::MAX, |size| size.0 as f64 / 1_073_741_824.0);
    values.put("db.max_size_gb_calculated", calculated);
    values.put("db.max_size_gb_used", calculated.min(custom));
    calculated.min(custom)
}

/// Number of databases that share a disk, for the size of the largest database.
fn sharing(given: &GivenInputs<'_>) -> f64 {
    let model = given.deployment.site_model();
    let halved =
        model == Some(SiteModel::ActivePassive) || !given.deployment.storage.databases_equal_copies;
    if given.c % 2.0 == 0.0 && halved { given.c / 2.0 } else { given.c }
}

/// Number of mailboxes that a database may hold, by space and by I/O (facts 5.6).
fn target(
    given: &GivenInputs<'_>,
    tiers: &Tiers,
    largest: f64,
    per_volume: f64,
    values: &mut Values,
) -> f64 {
    let by_space =
        largest * (1.0 - given.deployment.data.overhead).max(0.0) * 1024.0 / tiers.on_disk_mb;
    values.put("db.mailboxes_capacity_limited", by_space);
    let mut most = by_space;
    if given.jbod[0] && tiers.iops > 0.0 {
        let each = tiers.iops / (tiers.mailboxes / given.div);
        let disk = given.deployment.storage.first.database.random_iops;
        let by_io = down(disk / each / 2.0) * 2.0 / per_volume;
        values.put("db.mailboxes_io_limited", by_io);
        most = most.min(by_io);
    }
    let target = up(most).max(1.0);
    values.put("db.mailboxes_target", target);
    target
}
