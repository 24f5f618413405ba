//! The document as written: every value optional, with its type and position.
//!
//! The one table of a plan's keys: name and kind, the form in the commented example, and the order.
//! Reading, writing and the example follow from it; [`convert`](crate::convert) checks the values
//! of the fields.

mod entry;
mod example;
mod keys;

use units::{Bytes, Nanos};

use crate::complaint::Complaint;
use crate::reader::{Lines, NumberOrAuto, TomlPlace, TomlSection, parse};

pub use entry::quoted;
pub(crate) use example::example;
pub use keys::{Holds, PlanKey, plan_keys};

use entry::{Entry, List, One};
use example::{Explained, ExplainedKey, Shown};

/// The name of a key: that of its field, unless it has another.
macro_rules! name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// The keys of a section.
trait Keys: Sized {
    /// Their text in the example.
    const EXPLAINED: Explained;

    /// Takes the keys of the section; other keys remain to be taken.
    fn take(section: &mut TomlSection<'_>, complaints: &mut Vec<Complaint>) -> Self;

    /// Appends the section, with every key that has a value.
    fn write(&self, text: &mut String);

    /// Reads a section that has nothing but these keys.
    fn read(mut section: TomlSection<'_>, complaints: &mut Vec<Complaint>) -> Self {
        let taken = Self::take(&mut section, complaints);
        section.finish(complaints);
        taken
    }

    /// Reads the section at its place in the document.
    fn below(root: &mut TomlSection<'_>, complaints: &mut Vec<Complaint>) -> Self {
        Self::read(root.section(Self::EXPLAINED.key(), complaints), complaints)
    }
}

/// Defines a section of the document. Each key has its type, whether the example sets it or only
/// shows it in a comment, the value there, and its remark. The example's remarks begin at `column`;
/// `at place` keeps the section's position, for complaints.
macro_rules! section {
    (
        $(#[$attribute:meta])*
        $section:ident $title:literal $shown:ident $beside:literal column $column:literal
        above [$($above:literal)*] $(at $place:ident)?
        {
            $($field:ident $(as $key:literal)?: $kind:ty =>
                $state:ident $value:literal [$($remark:literal)*],)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Default)]
        pub(crate) struct $section {
            $(pub $place: TomlPlace,)?
            $(pub $field: $kind,)*
        }

        impl Keys for $section {
            const EXPLAINED: Explained = Explained {
                title: $title,
                beside: $beside,
                shown: Shown::$shown,
                column: $column,
                above: &[$($above,)*],
                keys: &[$(ExplainedKey {
                    name: name!($field $($key)?),
                    shown: Shown::$state,
                    value: $value,
                    remarks: &[$($remark,)*],
                    holds: stringify!($kind),
                },)*],
            };

            fn take(section: &mut TomlSection<'_>, complaints: &mut Vec<Complaint>) -> Self {
                Self {
                    $($place: section.place(""),)?
                    $($field: Entry::take(section, name!($field $($key)?), complaints),)*
                }
            }

            fn write(&self, text: &mut String) {
                if !$title.is_empty() {
                    text.push_str(concat!("\n", $title, "\n"));
                }
                $(self.$field.write(name!($field $($key)?), text);)*
            }
        }
    };
}

mod cache;

pub(crate) use cache::LowFlashCache;

section! {
    /// Keys before the first section.
    Head "" Given "" column 29
    above [
        "A plan for `plimsoll prepare` and `plimsoll run`. Only [databases] with folders and \
         size must be"
        "there; every other line shows its default."
    ]
    {
        name: One<String> => Given "\"example\"" [
            "in the title of the report and in the name of the run's folder"
        ],
        description: One<String> => Given "\"\"" [],
        seed: One<i128> => Given "1" [
            "the same seed gives the same content and the same operations"
        ],
        preset: One<String> => Given "\"exchange2013\"" [
            "or \"exchange2010\": where the load's values come from by default"
        ],
    }
}

section! {
    /// Locations of the databases, and their size.
    Databases "[databases]" Given "" column 39
    above [] at place
    {
        folders: List<String> => Given "[\"/mnt/disk1\", \"/mnt/disk2\"]" [
            "databases are dealt out to these in turn"
        ],
        log_folders: List<String> => Comment "[\"/mnt/log1\"]" [
            "where logs go in turn; default: beside the databases"
        ],
        backup_folders: List<String> => Comment "[\"/mnt/backup1\"]" [
            "where a backup test writes copies in turn; default: nowhere"
        ],
        volumes: List<String> => Comment "[\"/mnt/disk1\"]" [
            "mount points that hold several folders: `simulate --each-folder`"
            "gives each one array; default: each folder is a volume"
        ],
        count: One<i128> => Comment "2" ["databases in all; default: one per folder"],
        weights: List<f64> => Comment "[1, 2]" [
            "shares of the load, in turn; default: all alike"
        ],
        size: One<Bytes> => Given "\"10GiB\"" [
            "of each database; at least 20 x cache_maximum to be cold"
        ],
        capacity_percent: One<i128> => Comment "80" [
            "instead of size: what all may grow to fill of each volume;"
            "they begin at four fifths of that"
        ],
        page_size: One<Bytes> => Given "\"32KiB\"" ["4KiB, 8KiB, 16KiB or 32KiB"],
    }
}

section! {
    /// One `[[database]]`.
    Listed "[[database]]" Comment "" column 29
    above ["Instead of folders, each database may name its own:"] at place
    {
        folder: One<String> => Comment "\"/mnt/disk1/mail\"" [],
        log_folder: One<String> => Comment "\"/mnt/log1\"" [],
        backup_folder: One<String> => Comment "\"/mnt/backup1\"" [],
        weight: One<f64> => Comment "1" [
            "its share of the load beside the weights of the others"
        ],
    }
}

section! {
    /// The load that the storage must carry.
    LowMailboxes "[mailboxes]" Comment "" column 29
    above [
        "What the storage is to carry: the load is held at what they require and the \
         headroom, and judged."
    ] at place
    {
        count: One<i128> => Comment "5000" [],
        iops_each: One<f64> => Comment "0.1" [
            "database reads and writes per second of one, in its busiest hour"
        ],
        size: One<Bytes> => Comment "\"2GiB\"" ["of one; says whether room or I/O is the limit"],
        headroom: One<i128> => Comment "20" ["percent"],
    }
}

section! {
    /// Resources of the engine.
    Engine "[engine]" Given "of each database" column 29
    above []
    {
        cache_minimum: One<Bytes> => Given "\"32MiB\"" [],
        cache_maximum: One<Bytes> => Given "\"256MiB\"" [],
        checkpoint_depth: One<Bytes> => Given "\"20MiB\"" [
            "log between the checkpoint and the newest record"
        ],
        log_segment: One<NumberOrAuto> => Given "\"auto\"" [
            "bytes that log writes are multiples of: 512 or 4096; by default 512 where"
            "the disk's logical and physical sectors are no longer"
        ],
    }
}

section! {
    /// The load.
    Workload "[workload]" Given "" column 29
    above []
    {
        threads: One<NumberOrAuto> => Given "\"auto\"" [
            "sessions per database: as many as the limits allow, or a number"
        ],
        target_iops: One<i128> => Comment "500" [
            "of all databases; held, and judged. Else what [mailboxes] ask for, or"
            "as many as possible"
        ],
        throughput_percent: One<i128> => Comment "80" [
            "instead of target_iops: of the highest load, which is searched for first"
        ],
        hours: List<f64> => Comment "[5, 5, 5, 5, 5, 10, 20, 50, 90, 100, 100, 90, 70, 80, 90, 80, \
                                     70, 50, 30, 20, 15, 10, 5, 5]" [
            "percent"
            "of the target in each hour from midnight on, as level 2 of `simulate` follows it;"
            "a run on storage holds the busiest hour all the time"
        ],
        insert: One<i128> => Given "40" ["percent of the operations; the rest are reads"],
        delete: One<i128> => Given "20" [],
        replace: One<i128> => Given "5" [],
        batch_updates: One<i128> => Given "16" ["inserts, deletes and replaces of one batch"],
        commits_per_batch: One<i128> => Given "7" ["transactions that a batch is made of"],
        lazy_commits: One<i128> => Given "70" [
            "percent of the commits that do not wait for the log"
        ],
        short_pad: One<Bytes> => Given "\"480B\"" ["payload in the record"],
        long_pad: One<Bytes> => Given "\"1240B\"" ["payload in the long-value tree"],
        compressible: One<i128> => Given "0" ["percent of each payload that is zeros"],
        repeated: One<i128> => Given "0" [
            "percent of the messages with a payload that others have as well"
        ],
        zipf_theta: One<f64> => Given "0.0" [
            "0: messages are read and replaced alike; to 0.99: the newer the more often"
        ],
    }
}

section! {
    /// The test.
    Test "[test]" Given "" column 29
    above []
    {
        kind as "type": One<String> => Given "\"performance\"" [
            "or \"stress\": 24h and lenient limits by default;"
            "\"backup\" and \"checksum\" read each database once; \"recovery\" has logs"
            "generated and replays them"
        ],
        duration: One<Nanos> => Given "\"2h\"" ["measured, after the warm-up"],
        performance_duration: One<Nanos> => Comment "\"2h\"" [
            "of the performance test, in place of `duration`"
        ],
        stress_duration: One<Nanos> => Comment "\"24h\"" [
            "of the stress test, in place of `duration`; `run --test all` makes both"
        ],
        warm_up_limit: One<Nanos> => Given "\"30min\"" [
            "warm-up ends when the cache is at 0.9 of its maximum, or after this"
        ],
        warm_up: One<String> => Given "\"held\"" [
            "a load with a target keeps to it from its first request; \"full\": caches are"
            "filled, and sessions searched for, as fast as the storage answers"
        ],
        interval: One<Nanos> => Given "\"15s\"" ["of one sample"],
        give_up: One<Nanos> => Given "\"60s\"" [
            "a request without an answer for so long ends the run: it fails"
        ],
        finish: One<Nanos> => Comment "\"5min\"" [
            "limit on everything after the measurement (sessions, drain, check); what is not"
            "done by then is left; default: 5 min, more for large databases"
        ],
        copies: One<i128> => Given "1" [
            "of each database, this one included; each other one reads every closed log"
        ],
        replay_logs: One<i128> => Given "500" [
            "log files of 1 MiB that a recovery test replays into each database"
        ],
        passive_copy: One<Bytes> => Comment "\"100MiB\"" [
            "recovery replays into a copy of each database from before the logs, which"
            "is written as a passive copy of this checkpoint depth; 2010: 5MiB"
        ],
        checksum: One<bool> => Given "true" ["verify every page after the run"],
        maintenance: One<bool> => Given "true" [
            "background scan of the whole file while the load runs"
        ],
        maintenance_throttle: One<Nanos> => Given "\"100ms\"" [
            "pause between two reads of the scan"
        ],
    }
}

section! {
    /// Limits of latencies.
    Limits "[limits]" Given "averages over the run, and the worst sample" column 29
    above []
    {
        read_average: One<Nanos> => Given "\"20ms\"" [],
        read_maximum: One<Nanos> => Comment "\"100ms\"" [
            "worst sample; in a stress test 200ms by default"
        ],
        log_write_average: One<Nanos> => Given "\"10ms\"" [],
        log_write_maximum: One<Nanos> => Comment "\"100ms\"" ["the same"],
        longest_request: One<Nanos> => Given "\"5s\"" ["any one request, of whatever kind"],
        read_p99: One<Nanos> => Comment "\"60ms\"" ["99 in 100 database reads, over the run"],
        log_write_p99: One<Nanos> => Comment "\"30ms\"" ["99 in 100 log writes, over the run"],
        read_rate: One<Bytes> => Comment "\"50MiB\"" [
            "per second, of each database in a backup or checksum test"
        ],
        replay: One<Nanos> => Comment "\"2500ms\"" [
            "average of one log file, of each database in a recovery test"
        ],
    }
}

/// The sections in the order of the example.
static SECTIONS: [Explained; 9] = [
    Head::EXPLAINED,
    Databases::EXPLAINED,
    Listed::EXPLAINED,
    LowMailboxes::EXPLAINED,
    Engine::EXPLAINED,
    LowFlashCache::EXPLAINED,
    Workload::EXPLAINED,
    Test::EXPLAINED,
    Limits::EXPLAINED,
];

/// A plan before its values have been checked.
pub(crate) struct Document {
    pub head: Head,
    pub mailboxes: Option<LowMailboxes>,
    pub databases: Databases,
    pub listed: Vec<Listed>,
    pub engine: Engine,
    pub flash_cache: Option<LowFlashCache>,
    pub workload: Workload,
    pub test: Test,
    pub limits: Limits,
}

impl Document {
    /// The document as a text that [`read`] reads back.
    pub(crate) fn write(&self) -> String {
        let mut text = String::new();
        self.head.write(&mut text);
        if let Some(mailboxes) = &self.mailboxes {
            mailboxes.write(&mut text);
        }
        self.databases.write(&mut text);
        for listed in &self.listed {
            listed.write(&mut text);
        }
        self.engine.write(&mut text);
        if let Some(cache) = &self.flash_cache {
            cache.write(&mut text);
        }
        self.workload.write(&mut text);
        self.test.write(&mut text);
        self.limits.write(&mut text);
        text
    }
}

/// Reads the text; `None` if it is not TOML at all.
pub(crate) fn read(text: &str, complaints: &mut Vec<Complaint>) -> Option<Document> {
    let lines = Lines::of_text(text);
    let table = parse(text, "plimsoll plan", complaints)?;
    Some(document(TomlSection::root(&table, &lines), complaints))
}

fn document(mut root: TomlSection<'_>, complaints: &mut Vec<Complaint>) -> Document {
    let document = Document {
        head: Head::take(&mut root, complaints),
        mailboxes: root
            .has(LowMailboxes::EXPLAINED.key())
            .then(|| LowMailboxes::below(&mut root, complaints)),
        databases: Databases::below(&mut root, complaints),
        listed: root
            .sections(Listed::EXPLAINED.key(), complaints)
            .into_iter()
            .map(|section| Listed::read(section, complaints))
            .collect(),
        engine: Engine::below(&mut root, complaints),
        flash_cache: root
            .has(LowFlashCache::EXPLAINED.key())
            .then(|| LowFlashCache::below(&mut root, complaints)),
        workload: Workload::below(&mut root, complaints),
        test: Test::below(&mut root, complaints),
        limits: Limits::below(&mut root, complaints),
    };
    root.finish(complaints);
    document
}
