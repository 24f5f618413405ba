//! The circumstances of a run, as names and values that can be compared side by side.

use record::{Phase, RunRecord, Settings, StorageRuling, TestType, VolumeFacts};

use super::limits;
use super::stated::{mix_text, stated};

/// One circumstance of a run.
pub(super) struct Circumstance {
    /// Its name.
    pub name: &'static str,
    /// Its value in this run; empty if the record does not state it.
    pub value: String,
    /// Whether runs that differ in it did different work.
    pub is_work: bool,
}

/// Work settings that decide how fast databases are read from end to end. Such a pass makes no
/// load, so targets, sessions and caches cannot change its result.
const OF_PASSES: [&str; 5] =
    ["databases", "format", "page size", "compressible payload", "repeated payload"];

/// Read from the plan for a load only; a pass takes as long as it takes.
const LENGTH: &str = "time to be measured";

/// Whether a setting can change the result of a test.
fn matters_to(test: TestType, name: &str, is_work: bool) -> bool {
    match test {
        TestType::Performance | TestType::Stress | TestType::Recovery => true,
        TestType::Backup | TestType::Checksum if is_work => OF_PASSES.contains(&name),
        TestType::Backup | TestType::Checksum => name != LENGTH,
    }
}

/// Identifies the work of a run: runs that differ in it are not points of one series.
pub(crate) fn work(run: &RunRecord) -> String {
    let settings = of_run(run).into_iter().filter(|of| of.is_work);
    let settings = settings.map(|of| format!("{}: {}", of.name, of.value));
    let kind = run.start.test.name().to_owned();
    std::iter::once(kind).chain(settings).collect::<Vec<_>>().join("; ")
}

/// Everything that decides a run's result: the same names in the same order for every run of
/// comparable tests.
pub(super) fn of_run(run: &RunRecord) -> Vec<Circumstance> {
    let surroundings = of_storage(run).into_iter().chain(of_machine(run));
    let surroundings =
        surroundings.map(|(name, value)| Circumstance { name, value, is_work: false });
    let work = of_databases(run).into_iter().chain(of_load(&run.start.settings));
    let mut all: Vec<Circumstance> = surroundings
        .chain(work.map(|(name, value)| Circumstance { name, value, is_work: true }))
        .filter(|of| matters_to(run.start.test, of.name, of.is_work))
        .collect();
    if let Some(result) = run.imported() {
        // This program's settings do not describe another program's.
        for circumstance in &mut all {
            circumstance.value = stated(run, result, circumstance.name);
        }
    }
    all
}

type Stated = (&'static str, String);

fn of_storage(run: &RunRecord) -> [Stated; 11] {
    let array = run.simulated().map(|simulation| simulation.array.clone());
    let arrays = run.simulated().map(|_| run.start.array_count().to_string());
    [
        ("simulated array", array.unwrap_or_default()),
        ("simulated arrays", arrays.unwrap_or_default()),
        ("file system", volumes(run, |volume| &volume.file_system)),
        ("disk", volumes(run, |volume| &volume.model)),
        ("device", volumes(run, |volume| &volume.device)),
        ("mount point", volumes(run, |volume| &volume.mount)),
        ("write cache", volumes(run, |volume| volume.write_cache.as_deref().unwrap_or_default())),
        (
            "durable writes",
            volumes(run, |volume| volume.durable_writes.as_deref().unwrap_or_default()),
        ),
        ("caches of devices", caches(run)),
        ("flash cache", flash_cache(run)),
        ("storage problems", to_mend(run)),
    ]
}

fn volumes(run: &RunRecord, say: fn(&VolumeFacts) -> &str) -> String {
    let databases = run.start.databases.iter();
    joined(databases.flat_map(|of| [say(&of.volume), say(&of.log_volume)]))
}

/// What devices and controllers report about their caches.
fn caches(run: &RunRecord) -> String {
    let of_caches = run.start.storage.iter().filter(|of| of.check.ends_with("write-cache"));
    joined(of_caches.map(|finding| finding.seen.as_str()))
}

/// The flash cache in front of the volumes.
fn flash_cache(run: &RunRecord) -> String {
    let cache = run.flash_cache_of(Phase::Measure);
    cache.map(|of| format!("{} MiB", of.capacity_bytes >> 20)).unwrap_or_default()
}

/// Problems found by the inspection before the run.
fn to_mend(run: &RunRecord) -> String {
    let mut wrong: Vec<String> = Vec::new();
    for finding in run.start.storage.iter().filter(|of| of.outcome == StorageRuling::Fail) {
        wrong.push(format!("{}: {}", finding.title, finding.seen));
    }
    joined(wrong.iter().map(String::as_str))
}

fn of_machine(run: &RunRecord) -> [Stated; 10] {
    let (start, machine) = (&run.start, &run.start.machine);
    [
        ("machine", machine.name.clone()),
        ("operating system", machine.operating_system.clone()),
        ("processor", machine.processor.clone()),
        ("processors", machine.logical_processors.to_string()),
        ("memory", format!("{} MiB", machine.memory_bytes >> 20)),
        ("requests by way of", machine.input_output.clone()),
        ("version", start.build.clone()),
        ("kind of test", start.test.name().to_owned()),
        (LENGTH, format!("{} s", start.settings.measure_ns / 1_000_000_000)),
        ("limits", limits::text(&start.settings.thresholds)),
    ]
}

fn of_databases(run: &RunRecord) -> [Stated; 2] {
    [
        ("databases", run.start.databases.len().to_string()),
        ("format", run.start.database_format.clone()),
    ]
}

fn of_load(settings: &Settings) -> [Stated; 14] {
    let mix = settings.mix;
    let target =
        settings.target_iops.map_or("as many as possible".to_owned(), |iops| format!("{iops:.0}"));
    let share = settings.throughput_percent.filter(|percent| *percent < 100.0);
    let target = share.map_or(target, |percent| format!("{percent:.0} % of the highest"));
    [
        ("target IOPS", target),
        ("sessions per database", settings.threads_per_database.to_string()),
        ("preset", settings.preset.clone()),
        ("commits per batch", settings.commits_per_batch.to_string()),
        (
            "operation mix",
            mix_text([
                mix.insert_percent,
                mix.delete_percent,
                mix.replace_percent,
                mix.read_percent,
            ]),
        ),
        ("cache per database", format!("{} MiB", settings.cache_maximum_bytes >> 20)),
        ("checkpoint depth", format!("{} MiB", settings.checkpoint_depth_bytes >> 20)),
        ("page size", format!("{} KiB", settings.page_size_bytes >> 10)),
        ("lazy commits", format!("{} %", settings.lazy_commit_percent)),
        ("compressible payload", format!("{} %", settings.compressible_percent)),
        ("repeated payload", format!("{} %", settings.repeated_percent)),
        ("skew of access", format!("theta {}", settings.zipf_theta)),
        (
            "background maintenance",
            if settings.background_maintenance { "on" } else { "off" }.into(),
        ),
        ("copies of each database", settings.copies_per_database.to_string()),
    ]
}

/// The distinct words, joined.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut different: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    different.sort_unstable();
    different.dedup();
    different.join(", ")
}
