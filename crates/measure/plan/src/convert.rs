//! The one conversion from a document to a plan: every check and every default.

mod cache;
mod capacity;
mod databases;

use units::{Bytes, Nanos, Seed};

use crate::bounds::{Quantity, within};
use crate::complaint::{Complaint, Problem};
use crate::day::{LoadDay, day};
use crate::limits::Limits;
use crate::low;
use crate::model::{
    Cache, LoadDurations, LoadSettings, MailboxDemand, Mix, Plan, Sessions, Test, TestKind,
    WarmUpPace,
};
use crate::name::name_fault;
use crate::preset::Preset;
use crate::quantity::write_size;
use crate::reader::{Given, NumberOrAuto, TomlPlace};

use capacity::VolumeOf;
pub use capacity::VolumeSize;

/// Values of the command line that override the document.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--name`, of the run.
    pub name: Option<String>,
    /// `--test`: a name of [`TestKind`].
    pub test: Option<String>,
    /// `--duration`
    pub duration: Option<Nanos>,
    /// `--threads`, per database.
    pub sessions: Option<Sessions>,
    /// `--target-iops`, of all databases.
    pub target_iops: Option<u32>,
    /// `--seed`
    pub seed: Option<u64>,
    /// `--size`, of each database.
    pub size: Option<Bytes>,
    /// Finds the volumes that databases may take a share of; `None`: there are no volumes.
    pub volume_of: Option<VolumeOf>,
}

/// Smallest database file: in a smaller one, the space that the fill reserves leaves room for
/// hardly any messages.
pub const SMALLEST_FILE: Bytes = Bytes::from_mib(16);

/// Largest database file: the maximum of the format's own engine.
const LARGEST_FILE: Bytes = Bytes(16 << 40);

/// Pages are numbered with 31 bits.
const MOST_PAGES: u64 = (1 << 31) - 1;

/// TOML integers have 63 bits.
const MOST_SEED: u64 = i64::MAX as u64;

/// Longest payload in the long-value tree: the most that the engine takes in one insert. `trial`
/// fails to compile if the two differ.
pub const LONGEST_LONG_PAD: Bytes = Bytes(256 << 10);

/// No storage exceeds this.
const MOST_IOPS: u32 = 100_000_000;

const DAY: Nanos = Nanos::from_secs(24 * 3600);

/// Checks `document`; `None` if too little of it is right to make a plan, and then there is at
/// least one complaint.
pub(crate) fn convert(
    mut document: low::Document,
    overrides: &Overrides,
    complaints: &mut Vec<Complaint>,
) -> Option<Plan> {
    apply(overrides, &mut document);
    let preset = preset(document.head.preset.as_ref(), complaints);
    let mut check = Check { complaints, preset: preset.document() };
    let cache = check.cache(&document.engine);
    let databases = check.databases(&document.databases, &document.listed);
    let page_size = check.page_size(document.databases.page_size.as_ref());
    let sizing =
        check.sizing(&document.databases, databases.as_deref(), page_size, overrides.volume_of);
    let test = check.test(&document.test, document.workload.hours.is_some());
    let mailboxes = document.mailboxes.as_ref().and_then(|low| check.mailboxes(low));
    let flash_cache = document.flash_cache.as_ref();
    let flash_cache = flash_cache.and_then(|low| check.flash_cache(low, databases.as_deref()));
    let mut workload = check.workload(&document.workload, page_size);
    if let (None, Some(mailboxes)) = (workload.target_iops, mailboxes) {
        workload.target_iops = Some(mailboxes.target_iops().clamp(1, MOST_IOPS));
    }
    workload.day = check.day(&document.workload, workload.target_iops.is_some());
    check.throughput_beside_a_target(&document.workload, workload.target_iops);
    let limits = Limits::from_low(&document.limits, test.kind.limits(), check.complaints);
    let depth_bounds = (Bytes::from_mib(1), Bytes::from_gib(4));
    Some(Plan {
        name: check.name(document.head.name),
        description: document.head.description.map_or_else(String::new, |text| text.value),
        preset,
        mailboxes,
        seed: Seed(check.number(document.head.seed.as_ref(), 1, (0, MOST_SEED))),
        databases: databases?,
        size: sizing?.size,
        capacity_percent: sizing?.capacity_percent,
        page_size,
        cache,
        checkpoint_depth: check.within(
            document.engine.checkpoint_depth.as_ref(),
            Bytes::from_mib(20),
            depth_bounds,
        ),
        log_segment: check.log_segment(document.engine.log_segment.as_ref()),
        flash_cache,
        workload,
        test,
        limits,
    })
}

/// Overrides the document's values with the command line's, so that both are checked alike.
fn apply(overrides: &Overrides, document: &mut low::Document) {
    fn given<T>(flag: &str, value: T) -> Given<T> {
        let key = flag.to_owned();
        Given { value, place: TomlPlace { line: 0, key } }
    }
    if let Some(name) = &overrides.name {
        document.head.name = Some(given("--name", name.clone()));
    }
    if let Some(test) = &overrides.test {
        drop_other_duration(&mut document.test, test);
        document.test.kind = Some(given("--test", test.clone()));
    }
    if let Some(duration) = overrides.duration {
        document.test.duration = Some(given("--duration", duration));
        document.test.performance_duration = None;
        document.test.stress_duration = None;
    }
    if let Some(sessions) = overrides.sessions {
        let threads = match sessions {
            Sessions::Auto => NumberOrAuto::Auto,
            Sessions::Count(count) => NumberOrAuto::Number(i128::from(count)),
        };
        document.workload.threads = Some(given("--threads", threads));
    }
    if let Some(target_iops) = overrides.target_iops {
        document.workload.target_iops = Some(given("--target-iops", i128::from(target_iops)));
        document.workload.throughput_percent = None;
    }
    if let Some(seed) = overrides.seed {
        document.head.seed = Some(given("--seed", i128::from(seed)));
    }
    if let Some(size) = overrides.size {
        document.databases.size = Some(given("--size", size));
        document.databases.capacity_percent = None;
    }
}

/// Drops the duration of the document's own kind of test from a load of another kind, as in a set
/// of tests: the two hours of a performance test are no stress test.
fn drop_other_duration(document: &mut low::Test, test: &str) {
    let own = document.kind.as_ref().map_or("performance", |of| &of.value);
    if matches!(test, "performance" | "stress") && own != test {
        document.duration = None;
    }
}

/// The preset that a document names, or the default.
fn preset(given: Option<&Given<String>>, complaints: &mut Vec<Complaint>) -> Preset {
    let Some(given) = given else {
        return Preset::Exchange2013;
    };
    Preset::from_name(&given.value).unwrap_or_else(|| {
        complaints.push(
            given.place.complaint(Problem::NotAChoice {
                found: given.value.clone(),
                choices: Preset::NAMES,
            }),
        );
        Preset::Exchange2013
    })
}

struct Check<'a> {
    complaints: &'a mut Vec<Complaint>,
    /// Supplies the values of the load that the document omits.
    preset: low::Document,
}

/// A value of a preset, which has every key of the load.
fn given_by_preset<T: Copy>(given: Option<&Given<T>>) -> T {
    given.expect("invariant: a preset has every key of the load").value
}

impl Check<'_> {
    fn within<T: Quantity>(&mut self, given: Option<&Given<T>>, default: T, bounds: (T, T)) -> T {
        within(self.complaints, given, default, bounds)
    }

    fn number<T>(&mut self, given: Option<&Given<i128>>, default: T, bounds: (T, T)) -> T
    where
        T: Copy + TryFrom<i128> + Into<i128>,
    {
        let bounds = (bounds.0.into(), bounds.1.into());
        let value = self.within(given, default.into(), bounds);
        T::try_from(value).unwrap_or(default)
    }

    /// A number of the load, or the preset's.
    fn of_load(
        &mut self,
        given: Option<&Given<i128>>,
        key: impl Fn(&low::Workload) -> Option<Given<i128>>,
        bounds: (u32, u32),
    ) -> u32 {
        let default = given_by_preset(key(&self.preset.workload).as_ref());
        let default = u32::try_from(default).expect("invariant: a preset is within bounds");
        self.number(given, default, bounds)
    }

    /// The run's name, which becomes part of its folder name.
    fn name(&mut self, name: Option<Given<String>>) -> String {
        let Some(name) = name else {
            return "plimsoll".to_owned();
        };
        if let Some(fault) = name_fault(&name.value) {
            self.complaints.push(name.place.complaint(Problem::BadName { fault }));
        }
        name.value
    }

    fn conflict(&mut self, place: &TomlPlace, message: impl Into<String>) {
        let message = message.into();
        self.complaints.push(place.complaint(Problem::Conflict { message }));
    }

    fn cache(&mut self, engine: &low::Engine) -> Cache {
        let bounds = (Bytes::from_mib(1), Bytes::from_gib(1024));
        let maximum = self.within(engine.cache_maximum.as_ref(), Bytes::from_mib(256), bounds);
        let default = Bytes::from_mib(32).min(maximum);
        let minimum = self.within(engine.cache_minimum.as_ref(), default, bounds);
        if let Some(given) = &engine.cache_minimum
            && minimum > maximum
        {
            let most = write_size(maximum);
            self.conflict(
                &given.place,
                format!("exceeds cache_maximum; give {most} or less, or raise cache_maximum"),
            );
        }
        Cache { minimum, maximum }
    }

    fn mailboxes(&mut self, low: &low::LowMailboxes) -> Option<MailboxDemand> {
        if low.count.is_none() {
            let example = "`count = 5000`, the mailboxes to carry, to [mailboxes]";
            self.missing(&low.place, "count", example);
            return None;
        }
        let sizes = (Bytes::from_mib(1), Bytes::from_gib(1024));
        Some(MailboxDemand {
            count: self.number(low.count.as_ref(), 1, (1, 10_000_000)),
            iops_each: self.within(low.iops_each.as_ref(), 0.1, (0.001, 100.0)),
            size: self.within(low.size.as_ref(), Bytes::from_gib(2), sizes),
            headroom_percent: self.number(low.headroom.as_ref(), 20, (0, 1000)),
        })
    }

    fn page_size(&mut self, given: Option<&Given<Bytes>>) -> Bytes {
        const CHOICES: [Bytes; 4] =
            [Bytes::from_kib(4), Bytes::from_kib(8), Bytes::from_kib(16), Bytes::from_kib(32)];
        let default = Bytes::from_kib(32);
        let Some(given) = given else { return default };
        if CHOICES.contains(&given.value) {
            return given.value;
        }
        self.complaints.push(given.place.complaint(Problem::NotAChoice {
            found: write_size(given.value),
            choices: &["4KiB", "8KiB", "16KiB", "32KiB"],
        }));
        default
    }

    fn log_segment(&mut self, given: Option<&Given<NumberOrAuto>>) -> Option<Bytes> {
        let given = given?;
        match given.value {
            NumberOrAuto::Auto => None,
            NumberOrAuto::Number(512) => Some(Bytes(512)),
            NumberOrAuto::Number(4096) => Some(Bytes(4096)),
            NumberOrAuto::Number(other) => {
                let problem = Problem::NotAChoice {
                    found: other.to_string(),
                    choices: &["auto", "512", "4096"],
                };
                self.complaints.push(given.place.complaint(problem));
                None
            }
        }
    }

    /// Complains that `key` is absent from the section at `place`, unless it or the section was
    /// given but could not be read, which has been complained about already.
    fn missing(&mut self, place: &TomlPlace, key: &str, example: &'static str) {
        let full = format!("{} {key}", place.key);
        let section = place.key.trim_matches(['[', ']']);
        if !self
            .complaints
            .iter()
            .any(|complaint| complaint.key == full || complaint.key == section)
        {
            self.complaints.push(place.complaint(Problem::Missing { example: example.to_owned() }));
        }
    }

    fn workload(&mut self, low: &low::Workload, page_size: Bytes) -> LoadSettings {
        // The record keeps the short pad on its page, with keys and hashes; a page must hold two
        // records.
        let short_bounds = (Bytes(1), Bytes(1000.min(page_size.0 / 8)));
        let long_bounds = (Bytes(64), LONGEST_LONG_PAD);
        let short = given_by_preset(self.preset.workload.short_pad.as_ref()).min(short_bounds.1);
        let long = given_by_preset(self.preset.workload.long_pad.as_ref());
        let short = self.within(low.short_pad.as_ref(), short, short_bounds);
        let long = self.within(low.long_pad.as_ref(), long, long_bounds);
        let batch_updates = self.of_load(
            low.batch_updates.as_ref(),
            |preset| preset.batch_updates.clone(),
            (1, 1000),
        );
        LoadSettings {
            sessions: self.sessions(low.threads.as_ref()),
            target_iops: self.target_iops(low.target_iops.as_ref()),
            throughput_percent: self.throughput_percent(low.throughput_percent.as_ref()),
            day: None,
            mix: self.mix(low),
            batch_updates,
            commits_per_batch: self.commits_per_batch(low, batch_updates),
            short_pad_bytes: u32::try_from(short.0).unwrap_or(u32::MAX),
            long_pad_bytes: u32::try_from(long.0).unwrap_or(u32::MAX),
            compressible_percent: self.number(low.compressible.as_ref(), 0, (0, 95)),
            repeated_percent: self.number(low.repeated.as_ref(), 0, (0, 100)),
            zipf_theta: self.within(low.zipf_theta.as_ref(), 0.0, (0.0, 0.99)),
        }
    }

    /// Returns the commits per batch, at most one per update: an empty commit writes nothing.
    fn commits_per_batch(&mut self, low: &low::Workload, batch_updates: u32) -> u32 {
        let given = low.commits_per_batch.as_ref();
        let commits = self.of_load(given, |preset| preset.commits_per_batch.clone(), (1, 1000));
        if let Some(given) = given
            && commits > batch_updates
        {
            let message = format!(
                "a batch of {batch_updates} updates has at most as many commits; lower it or \
                 raise batch_updates"
            );
            self.conflict(&given.place, message);
        }
        commits.min(batch_updates)
    }

    fn sessions(&mut self, given: Option<&Given<NumberOrAuto>>) -> Sessions {
        match given {
            Some(Given { value: NumberOrAuto::Number(number), place }) => {
                let given = Given { value: *number, place: place.clone() };
                Sessions::Count(self.number(Some(&given), 1, (1, 1024)))
            }
            _ => Sessions::Auto,
        }
    }

    fn target_iops(&mut self, given: Option<&Given<i128>>) -> Option<u32> {
        given.map(|given| self.number(Some(given), 1, (1, MOST_IOPS)))
    }

    /// A share of the highest load; plans without the key mean all of it.
    fn throughput_percent(&mut self, given: Option<&Given<i128>>) -> Option<u32> {
        given.map(|given| self.number(Some(given), 100, (1, 100)))
    }

    /// Complains about a share of the load combined with another target.
    fn throughput_beside_a_target(&mut self, low: &low::Workload, target_iops: Option<u32>) {
        if let (Some(given), Some(target)) = (&low.throughput_percent, target_iops) {
            let message = format!(
                "is a share of the highest load, and target_iops or [mailboxes] hold it at \
                 {target} IOPS; remove one"
            );
            self.conflict(&given.place, message);
        }
    }

    fn day(&mut self, low: &low::Workload, has_target: bool) -> Option<LoadDay> {
        day(low, has_target).unwrap_or_else(|(place, problem)| {
            self.complaints.push(place.complaint(problem));
            None
        })
    }

    fn mix(&mut self, low: &low::Workload) -> Mix {
        let percent = (0, 100);
        let insert = self.of_load(low.insert.as_ref(), |p| p.insert.clone(), percent);
        let delete = self.of_load(low.delete.as_ref(), |p| p.delete.clone(), percent);
        let replace = self.of_load(low.replace.as_ref(), |p| p.replace.clone(), percent);
        let lazy = low.lazy_commits.as_ref();
        let lazy_commits = self.of_load(lazy, |p| p.lazy_commits.clone(), percent);
        let updates: u32 = insert + delete + replace;
        let given = [&low.insert, &low.delete, &low.replace];
        if let Some(blamed) = given.into_iter().flatten().next() {
            let remedy = "lower one; reads are the rest";
            if updates > 100 {
                let sum = format!("insert + delete + replace is {updates} percent; {remedy}");
                self.conflict(&blamed.place, sum);
            } else if updates == 0 {
                let message = "insert, delete and replace are all 0; a batch needs updates";
                self.conflict(&blamed.place, message);
            } else if delete > insert {
                let message = "more deletes than inserts would empty the database; lower `delete`";
                self.conflict(&blamed.place, message);
            }
        }
        Mix { insert, delete, replace, read: 100_u32.saturating_sub(updates), lazy_commits }
    }

    /// A load over the day is tested for a day by default.
    fn test(&mut self, low: &low::Test, has_day: bool) -> Test {
        let kind = self.kind(low.kind.as_ref());
        let usual = if has_day { DAY.max(kind.duration()) } else { kind.duration() };
        let second = Nanos::from_secs(1);
        let days = Nanos(DAY.0 * 30);
        let of_kinds = LoadDurations {
            performance: self.span(low.performance_duration.as_ref(), (second, days)),
            stress: self.span(low.stress_duration.as_ref(), (second, days)),
        };
        let duration = self.within(low.duration.as_ref(), usual, (second, days));
        let duration = of_kinds.of(kind).unwrap_or(duration);
        let tenth = Nanos::from_millis(100);
        let hour = Nanos::from_secs(3600);
        let default = Nanos::from_secs(15).min(duration);
        let interval = self.within(low.interval.as_ref(), default, (tenth, hour));
        if let Some(given) = &low.interval
            && interval > duration
        {
            self.conflict(&given.place, "is longer than the test; give a shorter interval");
        }
        Test {
            kind,
            duration,
            of_kinds,
            warm_up_limit: self.within(
                low.warm_up_limit.as_ref(),
                Nanos::from_secs(1800),
                (Nanos::ZERO, DAY),
            ),
            warm_up: self.warm_up(low.warm_up.as_ref()),
            interval,
            give_up: self.within(low.give_up.as_ref(), Nanos::from_secs(60), (second, hour)),
            finish: self.span(low.finish.as_ref(), (second, DAY)),
            copies: self.number(low.copies.as_ref(), 1, (1, 16)),
            replay_logs: self.number(low.replay_logs.as_ref(), 500, (1, 100_000)),
            passive_copy: self.passive_copy(low),
            checksum: low.checksum.as_ref().is_none_or(|given| given.value),
            maintenance_throttle: self.maintenance(low),
        }
    }

    /// A length of time without a default.
    fn span(&mut self, given: Option<&Given<Nanos>>, bounds: (Nanos, Nanos)) -> Option<Nanos> {
        given.map(|given| self.within(Some(given), given.value, bounds))
    }

    fn passive_copy(&mut self, low: &low::Test) -> Option<Bytes> {
        low.passive_copy.as_ref().map(|given| {
            let depths = (Bytes::from_mib(1), Bytes::from_gib(1));
            self.within(Some(given), given.value, depths)
        })
    }

    fn kind(&mut self, given: Option<&Given<String>>) -> TestKind {
        let Some(given) = given else {
            return TestKind::Performance;
        };
        TestKind::from_name(&given.value).unwrap_or_else(|| {
            self.complaints.push(given.place.complaint(Problem::NotAChoice {
                found: given.value.clone(),
                choices: TestKind::NAMES,
            }));
            TestKind::Performance
        })
    }

    fn warm_up(&mut self, given: Option<&Given<String>>) -> WarmUpPace {
        let Some(given) = given else {
            return WarmUpPace::default();
        };
        WarmUpPace::from_name(&given.value).unwrap_or_else(|| {
            self.complaints.push(given.place.complaint(Problem::NotAChoice {
                found: given.value.clone(),
                choices: WarmUpPace::NAMES,
            }));
            WarmUpPace::default()
        })
    }

    fn maintenance(&mut self, low: &low::Test) -> Option<Nanos> {
        let bounds = (Nanos::from_millis(1), Nanos::from_secs(10));
        let default = given_by_preset(self.preset.test.maintenance_throttle.as_ref());
        let throttle = self.within(low.maintenance_throttle.as_ref(), default, bounds);
        let wanted = low.maintenance.as_ref().is_none_or(|given| given.value);
        if let Some(given) = &low.maintenance_throttle
            && !wanted
        {
            self.conflict(&given.place, "has no effect without `maintenance = true`; remove one");
        }
        wanted.then_some(throttle)
    }
}
