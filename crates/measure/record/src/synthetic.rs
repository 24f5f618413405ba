//! A made-up run with the shape of a real one, so that verdicts and reports can be tested without
//! stressing a disk. The same parameters give the same events.

mod drawn;

use units::{Prng, Seed};

pub use drawn::drawn;

use crate::codec::SCHEMA;
use crate::{
    Checksum, DatabaseFacts, DatabaseInterval, Edge, Event, Finished, Gauges, HostSample, Interval,
    IntervalCounters, LogLine, Machine, OperationMix, Phase, PhaseMark, RunRecord, Series,
    SeriesInterval, Settings, Start, TestType, Thresholds, VolumeFacts,
};

const SECOND: u64 = 1_000_000_000;
const PAGE: u64 = 32_768;
const FILE_PAGES: u64 = 32_642;

/// Latency in percent of the median at rising quantiles (per mille): the shape of a disk array
/// behind a write-back cache.
const SHAPE: [(u64, u64); 7] =
    [(0, 25), (500, 100), (900, 210), (990, 420), (999, 900), (1_000, 1_600), (1_001, 1_600)];

/// Shape of the made-up run.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// Seed of its noise.
    pub seed: Seed,
    /// How many databases.
    pub databases: u32,
    /// Length of an interval.
    pub interval_seconds: u64,
    /// Intervals before the measurement.
    pub warm_intervals: u64,
    /// Intervals of the measurement.
    pub measure_intervals: u64,
    /// Requests of the load, in percent of the usual number.
    pub load_percent: u64,
    /// Median latency of database reads.
    pub read_median_ns: u64,
    /// Median latency of log writes.
    pub log_write_median_ns: u64,
    /// Busy time of the machine.
    pub processor_percent: f64,
    /// Page-fault stalls per database and interval.
    pub page_fault_stalls: u64,
    /// Interval of the measurement in which everything takes twelve times as long.
    pub spike: Option<u64>,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Synthetic {
    /// Two databases for ten minutes, within every limit.
    pub const USUAL: Self = Self {
        seed: Seed(42),
        databases: 2,
        interval_seconds: 15,
        warm_intervals: 6,
        measure_intervals: 40,
        load_percent: 100,
        read_median_ns: 8_200_000,
        log_write_median_ns: 1_900_000,
        processor_percent: 14.0,
        page_fault_stalls: 0,
        spike: None,
    };

    /// The run, folded.
    pub fn run(&self) -> RunRecord {
        let mut run = RunRecord::default();
        self.tell(&mut |event| match event {
            Event::Start(start) => run = RunRecord::begin(*start),
            event => run.push(event),
        });
        run
    }

    /// The run's events as they would have been recorded.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.tell(&mut |event| events.push(event));
        events
    }

    /// Passes on the same events one by one: those of a long run would not fit into memory.
    pub fn tell(&self, events: &mut dyn FnMut(Event)) {
        let mut prng = Prng::new(self.seed);
        let interval_ns = self.interval_seconds * SECOND;
        let warm_ns = self.warm_intervals * interval_ns;
        let measured_ns = warm_ns + self.measure_intervals * interval_ns;
        let checked_ns = measured_ns + 16 * SECOND;
        events(Event::Start(Box::new(self.start())));
        events(log(0, "Testing begins."));
        phase(events, Phase::Open, 0, SECOND / 2, "Attaching databases.");
        events(log(SECOND / 2, "Dispatching transactions begins."));
        mark(events, Phase::Warm, Edge::Begin, SECOND / 2);
        for number in 0..self.warm_intervals {
            events(self.interval(&mut prng, Phase::Warm, number, None));
        }
        mark(events, Phase::Warm, Edge::End, warm_ns);
        events(log(warm_ns, "Cache reached 461.4 MiB of 512.0 MiB: measurement begins."));
        mark(events, Phase::Measure, Edge::Begin, warm_ns);
        for number in 0..self.measure_intervals {
            let at = self.warm_intervals + number;
            events(self.interval(&mut prng, Phase::Measure, at, Some(number)));
        }
        mark(events, Phase::Measure, Edge::End, measured_ns);
        phase(
            events,
            Phase::Drain,
            measured_ns,
            measured_ns + 3 * SECOND,
            "Shutting down databases.",
        );
        mark(events, Phase::Check, Edge::Begin, measured_ns + 3 * SECOND);
        events(self.check_interval(&mut prng, measured_ns + 3 * SECOND, checked_ns));
        for index in 0..self.databases {
            events(Event::Checksum(checksum(index, checked_ns)));
        }
        mark(events, Phase::Check, Edge::End, checked_ns);
        events(log(checked_ns, "Testing ends."));
        events(Event::Finished(Finished {
            at_ns: checked_ns,
            interrupted: false,
            reason: None,
            is_for_room: false,
            is_overdue: false,
            was_stopped: false,
        }));
    }

    fn start(&self) -> Start {
        Start {
            schema: SCHEMA,
            build: "plimsoll 0.1.0".to_owned(),
            database_format: "ESE 0x620,20,0".to_owned(),
            name: "array-a".to_owned(),
            tags: vec!["rack-3".to_owned()],
            started_epoch_ns: 1_795_219_200 * SECOND,
            machine: Machine {
                name: "mbx-01".to_owned(),
                id: String::new(),
                operating_system: "Linux 6.12".to_owned(),
                processor: "Example 2.4 GHz".to_owned(),
                logical_processors: 8,
                memory_bytes: 64 << 30,
                input_output: "io_uring".to_owned(),
            },
            seed: self.seed.0,
            test: TestType::Performance,
            command: "plimsoll run plan.toml".to_owned(),
            options: Vec::new(),
            description: "Shelf 3, RAID 5 (6+1), controller cache on".to_owned(),
            set: Vec::new(),
            plan_text: "[test]\nkind = \"performance\"\nduration = \"10m\"\n".to_owned(),
            settings: self.settings(),
            databases: (0..self.databases).map(facts).collect(),
            processors_before: None,
            imported: None,
            simulated: None,
            storage: Vec::new(),
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            threads_per_database: 3,
            executors: 2,
            cache_minimum_bytes: 32 << 20,
            cache_maximum_bytes: 256 << 20,
            flush_start_bytes: 2_684_354,
            flush_stop_bytes: 5_368_709,
            checkpoint_depth_bytes: 20 << 20,
            page_size_bytes: 32_768,
            mix: OperationMix {
                insert_percent: 40,
                delete_percent: 20,
                replace_percent: 5,
                read_percent: 35,
            },
            lazy_commit_percent: 70,
            batch_operations: 16,
            commits_per_batch: 7,
            preset: "exchange2013".to_owned(),
            verify_checksums: true,
            background_maintenance: true,
            copies_per_database: 1,
            target_iops: Some(240.0),
            warm_up_held: true,
            mailboxes: Some(2_000),
            iops_per_mailbox: Some(0.12),
            warm_fraction: 0.9,
            interval_ns: self.interval_seconds * SECOND,
            measure_ns: self.measure_intervals * self.interval_seconds * SECOND,
            thresholds: Thresholds::strict(),
            ..Settings::default()
        }
    }

    /// One interval of load; `number` counts all of them, `measured` those of the measurement.
    fn interval(&self, prng: &mut Prng, phase: Phase, number: u64, measured: Option<u64>) -> Event {
        let slowdown = if measured.is_some() && measured == self.spike { 12 } else { 1 };
        let interval_ns = self.interval_seconds * SECOND;
        let databases =
            (0..self.databases).map(|index| self.database(prng, index, number, slowdown)).collect();
        Event::Interval(Interval {
            phase,
            from_ns: number * interval_ns,
            to_ns: (number + 1) * interval_ns,
            databases,
            host: Some(self.host(prng)),
            processors: None,
            flash_cache: None,
        })
    }

    fn database(&self, prng: &mut Prng, index: u32, number: u64, slow: u64) -> DatabaseInterval {
        let drift = 94 + prng.below(13);
        let read_ns = self.read_median_ns * (100 + 9 * u64::from(index)) / 100 * slow * drift / 100;
        // Checkpoints make writes come in waves.
        let wave = 100 + [0, 6, 11, 6, 0, 4, 9, 14][usize::try_from(number % 8).expect("below 8")];
        let seconds = self.interval_seconds;
        let mut about =
            |rate: u64| seconds * rate * self.load_percent * (96 + prng.below(9)) / 10_000 / slow;
        let reads = about(103);
        let writes = about(63) * wave / 100;
        let log_writes = about(50);
        let log_ns = self.log_write_median_ns * slow;
        let series = vec![
            draw(prng, Series::DatabaseRead, reads, PAGE, read_ns),
            draw(prng, Series::DatabaseWrite, writes, PAGE * 114 / 100, read_ns * wave / 150),
            draw(prng, Series::LogWrite, log_writes, 5_172, log_ns),
            draw(prng, Series::LogFormat, self.interval_seconds / 4, 524_288, log_ns * 3),
            draw(prng, Series::MaintenanceRead, self.interval_seconds * 8, 262_144, read_ns * 2),
            draw(prng, Series::Transaction, self.interval_seconds * 5, 0, read_ns * 38),
        ];
        let transactions = self.interval_seconds * 5;
        DatabaseInterval {
            index,
            series,
            counters: IntervalCounters {
                transactions_lazy: transactions * 7 / 10,
                transactions_durable: transactions - transactions * 7 / 10,
                conflicts: number % 3,
                transactions_rolled_back: number % 3,
                inserts: transactions * 16 * 40 / 100,
                deletes: transactions * 16 * 20 / 100,
                replaces: transactions * 16 * 5 / 100,
                reads: transactions * 16 * 35 / 100,
                pages_written: writes * 114 / 100,
                log_volume_bytes: transactions * 24_500,
                page_fault_stalls: self.page_fault_stalls,
                late_starts: 0,
            },
            gauges: Gauges {
                cache_bytes: (256 << 20) * (number + 1).min(self.warm_intervals + 1)
                    / (self.warm_intervals + 1),
                dirty_pages: 600 + number % 8 * 20,
                file_bytes: (FILE_PAGES + number * 64) * PAGE,
                checkpoint_depth_bytes: 18 << 20,
                log_segment_bytes: 512,
                log_durable_to: None,
            },
        }
    }

    fn host(&self, prng: &mut Prng) -> HostSample {
        let noise = prng.below(40) as f64 / 10.0;
        HostSample {
            processor_percent: Some((self.processor_percent + noise).min(100.0)),
            steal_percent: Some(noise / 20.0),
            process_percent: Some(30.0 + noise),
            available_memory_bytes: Some((55 << 30) + prng.below(1 << 28)),
            process_resident_bytes: Some((610 << 20) + prng.below(1 << 23)),
            reactor_lag_maximum_ns: 300_000 + prng.below(900_000),
            ..HostSample::default()
        }
    }

    fn check_interval(&self, prng: &mut Prng, from_ns: u64, to_ns: u64) -> Event {
        let reads = FILE_PAGES * PAGE / 65_536;
        let databases = (0..self.databases)
            .map(|index| DatabaseInterval {
                index,
                series: vec![draw(prng, Series::ChecksumRead, reads, 65_536, 14_000_000)],
                ..DatabaseInterval::default()
            })
            .collect();
        Event::Interval(Interval {
            phase: Phase::Check,
            from_ns,
            to_ns,
            databases,
            host: Some(self.host(prng)),
            processors: None,
            flash_cache: None,
        })
    }
}

fn facts(index: u32) -> DatabaseFacts {
    let number = index + 1;
    let volume = VolumeFacts {
        mount: format!("/mail/db{number:02}"),
        device: format!("/dev/sd{}", char::from(b'b' + u8::try_from(index).unwrap_or(24))),
        model: "Example array".to_owned(),
        file_system: "xfs".to_owned(),
        size_bytes: 1_200_000_000_000,
        free_bytes: 1_200_000_000_000 - FILE_PAGES * PAGE,
        sector_bytes: 512,
        rotational: Some(true),
        write_cache: Some("write back".to_owned()),
        unbuffered: true,
        durable_writes: Some("RWF_DSYNC".to_owned()),
        ..VolumeFacts::default()
    };
    DatabaseFacts {
        backup_file: None,
        weight: None,
        index,
        name: format!("DB{number:02}"),
        file: format!("/mail/db{number:02}/Plimsoll{number:03}.edb"),
        log_folder: format!("/mail/db{number:02}/log"),
        initial_bytes: FILE_PAGES * PAGE,
        volume: volume.clone(),
        log_volume: volume,
    }
}

fn checksum(database: u32, at_ns: u64) -> Checksum {
    Checksum {
        at_ns,
        database,
        seen_pages: FILE_PAGES + 2,
        uninitialised_pages: 118,
        bytes: (FILE_PAGES + 2) * PAGE,
        elapsed_ns: 12_600_000_000 + u64::from(database) * 310_000_000,
        ..Checksum::default()
    }
}

fn draw(prng: &mut Prng, series: Series, count: u64, bytes: u64, median_ns: u64) -> SeriesInterval {
    let mut part = SeriesInterval::new(series);
    for _ in 0..count {
        part.record(bytes, latency(prng, median_ns));
    }
    part
}

/// A latency drawn by inverting [`SHAPE`], in integer arithmetic so that it is the same everywhere.
fn latency(prng: &mut Prng, median_ns: u64) -> u64 {
    let per_million = prng.below(1_000_000);
    let pair = SHAPE
        .windows(2)
        .find(|pair| per_million < pair[1].0 * 1_000)
        .expect("invariant: the shape ends above one million");
    let (from, to) = (pair[0], pair[1]);
    let width = (to.0 - from.0) * 1_000;
    let within = per_million - from.0 * 1_000;
    let percent_millions = from.1 * width + (to.1 - from.1) * within;
    median_ns / 100 * percent_millions / width
}

fn log(at_ns: u64, text: &str) -> Event {
    Event::Log(LogLine { at_ns, text: text.to_owned() })
}

fn mark(events: &mut dyn FnMut(Event), phase: Phase, edge: Edge, at_ns: u64) {
    events(Event::Phase(PhaseMark { at_ns, phase, edge }));
}

fn phase(events: &mut dyn FnMut(Event), phase: Phase, from_ns: u64, to_ns: u64, text: &str) {
    mark(events, phase, Edge::Begin, from_ns);
    events(log(from_ns, text));
    mark(events, phase, Edge::End, to_ns);
}
