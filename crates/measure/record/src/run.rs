//! A whole run, folded from its journal: the input of verdicts and reports.

mod digest;
mod lines;
mod loading;

use std::collections::BTreeMap;

pub use digest::DigestFault;
pub use loading::{JournalLine, LoadError, journal_lines};

use crate::codec::Seal;
use crate::pause::Looked;
use crate::{
    Attached, BackupCopy, Checksum, Edge, Event, Finished, FlashCacheInterval, FurtherErrors,
    Gauges, Histogram, HostSample, ImportedResult, Interval, IntervalCounters, Issue,
    LatencySpread, LogLine, LongRequest, OtherRun, Phase, PhaseMark, ProcessorShares, Replay,
    STALL_MINIMUM_NS, Series, SeriesInterval, Simulation, Start, Summary, TestType, Tuned,
    Unanswered, VolumeReads,
};

/// Kinds of requests whose latencies are kept by length.
const SPREAD: [Series; 2] = [Series::DatabaseRead, Series::LogWrite];

/// A run: totals per database and phase, one row per interval, and everything that was noted.
#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    /// The first line of the journal: the run, its machine and its settings.
    pub start: Start,
    /// The phases, in the order in which they began.
    pub phases: Vec<PhaseSpan>,
    /// Totals by phase and database index.
    pub totals: BTreeMap<(Phase, u32), PhaseTotals>,
    /// The intervals, in order.
    pub intervals: Vec<IntervalRow>,
    /// Issues, in order.
    pub issues: Vec<Issue>,
    /// Errors that have no issue, by database and volume.
    pub further_errors: Vec<FurtherErrors>,
    /// Results of the checksum pass, in the order in which the databases finished.
    pub checksums: Vec<Checksum>,
    /// Results of the backup pass, in the same order.
    pub backups: Vec<Checksum>,
    /// Copies made by the backup, in the same order.
    pub backup_copies: Vec<BackupCopy>,
    /// Results of reading those copies back.
    pub copy_checksums: Vec<Checksum>,
    /// Results of the replay, in the order in which the databases became open.
    pub replays: Vec<Replay>,
    /// Result of the search for the number of sessions, if there was one.
    pub tuned: Option<Tuned>,
    /// Bytes read from the volumes, if their devices have counters.
    pub volume_reads: Vec<VolumeReads>,
    /// Other runs on its disks.
    pub other_runs: Vec<OtherRun>,
    /// The last attachment of each database for the load, by index.
    pub attachments: BTreeMap<u32, Attached>,
    /// Times during which the run was cut off.
    pub breaks: Vec<Break>,
    /// The longest requests by database and phase, if they took a second or more.
    pub long_requests: Vec<LongRequest>,
    /// The test log.
    pub log: Vec<LogLine>,
    /// How the run ended; `None` if the program was stopped without warning.
    pub finished: Option<Finished>,
    /// Whether the last line was cut off, as after a crash.
    pub torn_tail: bool,
    /// Whether the journal is unaltered.
    pub seal: Seal,
    /// What came after the run. No journal knows it.
    pub sequel: Sequel,
    /// The last interval, before it was evaluated.
    looked: Option<Looked>,
    /// When the last event ended.
    last_ns: u64,
}

/// What came after a run that decides how to go on from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequel {
    /// Nothing, as far as is known.
    #[default]
    None,
    /// Its databases were opened by another program.
    Opened,
    /// A later run took its place in a set of tests.
    Replaced,
}

/// A time without data, because the program or the machine was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// The end of the known part, in nanoseconds since the start of the run.
    pub from_ns: u64,
    /// When the run continued.
    pub to_ns: u64,
    /// Whether the program ended by itself, at the user's request: its journal then has everything
    /// that it saw.
    pub is_orderly: bool,
}

/// Start and end of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseSpan {
    /// Which phase.
    pub phase: Phase,
    /// Start, in nanoseconds since the start of the run.
    pub from_ns: u64,
    /// End, if it was reached.
    pub to_ns: Option<u64>,
}

/// Activity of one database in all intervals of a phase that count.
#[derive(Clone, Debug, Default)]
pub struct PhaseTotals {
    /// Time covered by those intervals.
    pub span_ns: u64,
    /// Requests by kind.
    pub series: BTreeMap<Series, SeriesTotal>,
    /// Event counts.
    pub counters: IntervalCounters,
    /// Levels at the end of the last interval.
    pub gauges: Gauges,
}

/// All requests of one kind.
#[derive(Clone, Debug, Default)]
pub struct SeriesTotal {
    /// Bytes of successful requests.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Latencies of successful requests.
    pub latency: Histogram,
    /// Unanswered requests at the end of the last interval.
    pub unanswered: Unanswered,
}

/// One interval without its buckets, which would not fit into memory for a day-long run.
#[derive(Clone, Debug)]
pub struct IntervalRow {
    /// The phase it lies in.
    pub phase: Phase,
    /// Start, in nanoseconds since the start of the run.
    pub from_ns: u64,
    /// End, in nanoseconds since the start of the run.
    pub to_ns: u64,
    /// Activity of each database.
    pub databases: Vec<DatabaseRow>,
    /// Requests of all databases together, by kind.
    pub series: BTreeMap<Series, SeriesRow>,
    /// Latencies of the kinds that charts show by length.
    pub spreads: Vec<(Series, LatencySpread)>,
    /// Activity of the machine.
    pub host: Option<HostSample>,
    /// Processor use, if known.
    pub processors: Option<ProcessorShares>,
    /// Activity of the flash cache, if there is one.
    pub flash_cache: Option<FlashCacheInterval>,
    /// Whether the program was stopped, which excludes the interval from latencies and rates.
    pub is_left_out: bool,
}

/// Activity of one database in an interval.
#[derive(Clone, Debug)]
pub struct DatabaseRow {
    /// Its index.
    pub index: u32,
    /// Requests by kind.
    pub series: BTreeMap<Series, SeriesRow>,
    /// Event counts.
    pub counters: IntervalCounters,
    /// Levels at the end.
    pub gauges: Gauges,
}

/// Requests of one kind in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesRow {
    /// Bytes of successful requests.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Latencies of successful requests.
    pub latency: Summary,
    /// Unanswered requests.
    pub unanswered: Unanswered,
}

impl RunRecord {
    /// A record that contains only the start.
    pub fn begin(start: Start) -> Self {
        Self { start, ..Self::default() }
    }

    /// Sessions per database during the measurement.
    pub fn sessions_per_database(&self) -> u32 {
        let given = self.start.settings.threads_per_database;
        self.tuned.map_or(given, |tuned| tuned.sessions_per_database)
    }

    /// The load held, averaged over the measurement: the plan's target, or a share of the highest
    /// load found.
    pub fn target_iops(&self) -> Option<f64> {
        let found = self.tuned.and_then(|tuned| tuned.target_iops).map(f64::from);
        let target = self.start.settings.target_iops.or(found)?;
        Some(target * self.held_share())
    }

    /// Mean share of the target over the measured hours; 1 if the load was constant.
    pub fn held_share(&self) -> f64 {
        let settings = &self.start.settings;
        let measured = self.span_ns(Phase::Measure);
        crate::day::mean_share(
            &settings.hourly_percent,
            if measured > 0 { measured } else { settings.measure_ns },
        )
    }

    /// When the last event ended, in nanoseconds since the start of the run.
    pub const fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// Folds one event in; a further start is ignored.
    pub fn push(&mut self, event: Event) {
        let end_ns = event.end_ns();
        self.fold(event);
        self.last_ns = self.last_ns.max(end_ns.unwrap_or(0));
    }

    fn fold(&mut self, event: Event) {
        match event {
            Event::Start(_) => {}
            Event::Phase(mark) => self.push_phase(mark),
            Event::Interval(interval) => self.push_interval(&interval),
            Event::Issue(issue) => self.issues.push(issue),
            Event::FurtherErrors(errors) => errors.add_to(&mut self.further_errors),
            Event::Checksum(checksum) => self.checksums.push(checksum),
            Event::Backup(read) => self.backups.push(read),
            Event::BackupCopy(copy) => self.backup_copies.push(copy),
            Event::CopyChecksum(read) => self.copy_checksums.push(read),
            Event::Replay(replay) => self.replays.push(replay),
            Event::Tuned(tuned) => self.tuned = Some(tuned),
            Event::VolumeReads(reads) => self.volume_reads.push(reads),
            Event::OtherRun(run) => self.other_runs.push(run),
            Event::LongRequest(request) => self.push_long_request(request),
            Event::Attached(attached) => {
                self.attachments.insert(attached.database, attached);
            }
            Event::Resumed(resumed) => self.push_break(resumed.at_ns),
            Event::Log(line) => self.log.push(line),
            Event::Finished(finished) => self.finished = Some(finished),
        }
    }

    fn push_phase(&mut self, mark: PhaseMark) {
        match mark.edge {
            Edge::Begin => {
                self.phases.push(PhaseSpan { phase: mark.phase, from_ns: mark.at_ns, to_ns: None });
            }
            Edge::End => {
                let open = self.phases.iter_mut().rev();
                let mut open = open.filter(|span| span.phase == mark.phase && span.to_ns.is_none());
                if let Some(span) = open.next() {
                    span.to_ns = Some(mark.at_ns);
                }
            }
        }
    }

    /// Keeps the longest request of a database and phase; requests are reported during the phase
    /// and again at its end.
    fn push_long_request(&mut self, request: LongRequest) {
        let mut known = self.long_requests.iter_mut();
        let is_same =
            |of: &&mut LongRequest| (of.database, of.phase) == (request.database, request.phase);
        match known.find(is_same) {
            Some(known) if known.time_ns < request.time_ns => *known = request,
            Some(_) => {}
            None => self.long_requests.push(request),
        }
    }

    /// Closes the part before a crash or stop. Requests in flight then count as unanswered.
    fn push_break(&mut self, to_ns: u64) {
        let from_ns = self.last_ns;
        let is_orderly = self.finished.take().is_some();
        for span in &mut self.phases {
            span.to_ns.get_or_insert(from_ns);
        }
        let series = self.totals.values_mut().flat_map(|totals| totals.series.values_mut());
        for total in series {
            total.settle_unanswered();
        }
        self.looked = None;
        self.breaks.push(Break { from_ns, to_ns, is_orderly });
    }

    fn push_interval(&mut self, interval: &Interval) {
        let span_ns = interval.to_ns.saturating_sub(interval.from_ns);
        let is_left_out = self.leaves_out(Looked {
            phase: interval.phase,
            span_ns,
            planned_ns: self.start.settings.interval_ns,
            host: interval.host,
        });
        let mut all: BTreeMap<Series, SeriesTotal> = BTreeMap::new();
        let mut rows = Vec::with_capacity(interval.databases.len());
        for database in &interval.databases {
            let totals = self.totals.entry((interval.phase, database.index)).or_default();
            if !is_left_out {
                totals.span_ns += span_ns;
                totals.counters += database.counters;
            }
            totals.gauges = database.gauges;
            totals.forget_unanswered();
            let mut series = BTreeMap::new();
            for part in &database.series {
                let counts = (part.bytes, part.errors);
                series.insert(part.series, row(counts, &part.latency, part.unanswered));
                let sum = totals.series.entry(part.series).or_default();
                if is_left_out {
                    sum.errors += part.errors;
                } else {
                    sum.add(part);
                    sum.unanswered = part.unanswered;
                }
                let of_all = all.entry(part.series).or_default();
                of_all.add(part);
                of_all.unanswered.join(part.unanswered);
            }
            rows.push(DatabaseRow {
                index: database.index,
                series,
                counters: database.counters,
                gauges: database.gauges,
            });
        }
        self.intervals.push(IntervalRow {
            phase: interval.phase,
            from_ns: interval.from_ns,
            to_ns: interval.to_ns,
            databases: rows,
            series: all.iter().map(|(&series, total)| (series, total.row())).collect(),
            spreads: SPREAD.iter().filter_map(|of| Some((*of, all.get(of)?.spread()))).collect(),
            host: interval.host,
            processors: interval.processors.as_deref().cloned(),
            flash_cache: interval.flash_cache.as_deref().cloned(),
            is_left_out,
        });
    }

    /// Whether an interval does not reflect the storage.
    fn leaves_out(&mut self, looked: Looked) -> bool {
        let before = self.looked.replace(looked);
        let inherits =
            before.is_some_and(|before| before.phase == looked.phase && before.reaches_beyond());
        inherits || looked.paused_ns().is_some()
    }
}

/// Queries shared by verdicts and reports.
impl RunRecord {
    /// The published result behind the record, if it was not measured here.
    pub fn imported(&self) -> Option<&ImportedResult> {
        self.start.imported.as_deref()
    }

    /// The model that the run was simulated on; `None` for a run on real storage.
    pub fn simulated(&self) -> Option<&Simulation> {
        self.start.simulated.as_deref()
    }

    /// Whether it is one host of a deployment that was simulated, and judged, as a whole.
    pub fn is_host_of_deployment(&self) -> bool {
        self.simulated().is_some_and(|simulation| simulation.is_host_of_deployment)
    }

    /// Whether it is a load on storage that was interrupted by a crash, a power cut or the user.
    /// `run --resume` completes it, unless another program has opened its databases since.
    pub fn is_resumable(&self) -> bool {
        let is_load = matches!(self.start.test, TestType::Performance | TestType::Stress);
        let is_ours = self.imported().is_none() && self.simulated().is_none();
        let is_open = self.finished.as_ref().is_none_or(|finished| finished.was_stopped);
        is_load && is_ours && is_open && self.sequel == Sequel::None
    }

    /// Number of errors that were counted without an issue.
    pub fn further_error_count(&self) -> u64 {
        self.further_errors.iter().map(FurtherErrors::count).sum()
    }

    /// The intervals of a phase, in order.
    pub fn intervals_of(&self, phase: Phase) -> impl Iterator<Item = &IntervalRow> {
        self.intervals.iter().filter(move |row| row.phase == phase)
    }

    /// The intervals of a phase in which the program ran all the time, in order: the basis of
    /// latencies and rates.
    pub fn counting_intervals_of(&self, phase: Phase) -> impl Iterator<Item = &IntervalRow> {
        self.intervals_of(phase).filter(|row| !row.is_left_out)
    }

    /// Flash cache activity in a phase: its counts, and its levels at the end; `None` if there is
    /// no cache.
    pub fn flash_cache_of(&self, phase: Phase) -> Option<FlashCacheInterval> {
        let mut of_phase = self.intervals_of(phase).filter_map(|row| row.flash_cache.as_ref());
        let mut sum = of_phase.next()?.clone();
        for later in of_phase {
            sum.continue_with(later);
        }
        Some(sum)
    }

    /// Activity of a database in a phase, if any.
    pub fn totals_of(&self, phase: Phase, database: u32) -> Option<&PhaseTotals> {
        self.totals.get(&(phase, database))
    }

    /// All databases of a phase together; the span is that of the intervals, not their sum.
    pub fn sum_of(&self, phase: Phase) -> PhaseTotals {
        let mut sum = PhaseTotals { span_ns: self.span_ns(phase), ..PhaseTotals::default() };
        let of_phase = self.totals.iter().filter(|((of, _), _)| *of == phase);
        for (_, totals) in of_phase {
            sum.counters += totals.counters;
            for (&series, total) in &totals.series {
                sum.series.entry(series).or_default().merge(total);
            }
            sum.gauges.cache_bytes += totals.gauges.cache_bytes;
            sum.gauges.dirty_pages += totals.gauges.dirty_pages;
            sum.gauges.file_bytes += totals.gauges.file_bytes;
            sum.gauges.checkpoint_depth_bytes += totals.gauges.checkpoint_depth_bytes;
            let segment = &mut sum.gauges.log_segment_bytes;
            *segment = totals.gauges.log_segment_bytes.max(*segment);
        }
        sum
    }

    /// Time covered by the counting intervals of a phase, in nanoseconds.
    pub fn span_ns(&self, phase: Phase) -> u64 {
        self.counting_intervals_of(phase).map(IntervalRow::span_ns).sum()
    }

    /// Reads and writes of database pages by transactions, per second of the measurement, over all
    /// databases: Jetstress' achieved transactional I/O per second.
    ///
    /// Log, maintenance, header and replication requests do not count.
    pub fn achieved_transactional_iops(&self) -> f64 {
        self.sum_of(Phase::Measure).transactional_iops()
    }
}

impl PhaseTotals {
    /// Forgets the requests waiting at the end of the last interval: they are either answered in
    /// the next or reported again by it.
    fn forget_unanswered(&mut self) {
        for total in self.series.values_mut() {
            total.unanswered = Unanswered::default();
        }
    }

    /// Successful requests of a kind.
    pub fn count(&self, series: Series) -> u64 {
        self.series.get(&series).map_or(0, |total| total.latency.count())
    }

    /// Requests of a kind per second; 0 if no time passed.
    pub fn per_second(&self, series: Series) -> f64 {
        self.rate(self.count(series))
    }

    /// `count` per second; 0 if no time passed.
    pub fn rate(&self, count: u64) -> f64 {
        if self.span_ns == 0 {
            return 0.0;
        }
        count as f64 * 1e9 / self.span_ns as f64
    }

    /// Database reads and writes per second.
    pub fn transactional_iops(&self) -> f64 {
        self.per_second(Series::DatabaseRead) + self.per_second(Series::DatabaseWrite)
    }
}

impl IntervalRow {
    /// The latencies of a kind by length, if they are kept and there were any.
    pub fn spread(&self, series: Series) -> Option<&LatencySpread> {
        self.spreads.iter().find(|(of, _)| *of == series).map(|(_, spread)| spread)
    }

    /// Its length in nanoseconds.
    pub fn span_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// Reads and writes of database pages by transactions, per second.
    pub fn transactional_iops(&self) -> f64 {
        self.per_second(Series::DatabaseRead) + self.per_second(Series::DatabaseWrite)
    }

    /// Requests of a kind per second, all databases together; 0 if no time passed.
    pub fn per_second(&self, series: Series) -> f64 {
        let count = self.series.get(&series).map_or(0, |row| row.latency.count);
        match self.span_ns() {
            0 => 0.0,
            span_ns => count as f64 * 1e9 / span_ns as f64,
        }
    }
}

impl SeriesTotal {
    /// Adds all requests of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.latency.merge(&other.latency);
        self.unanswered.join(other.unanswered);
    }

    /// Counts requests that waited for long as answered at their current age, a lower bound of
    /// their latency.
    fn settle_unanswered(&mut self) {
        let Unanswered { waiting, mean_age_ns, oldest_ns, .. } = self.unanswered;
        if oldest_ns >= STALL_MINIMUM_NS {
            (0..waiting).for_each(|_| self.latency.record(mean_age_ns));
        }
        self.unanswered = Unanswered::default();
    }

    /// Mean size of a request in bytes; 0 if there was none.
    pub fn mean_bytes(&self) -> f64 {
        match self.latency.count() {
            0 => 0.0,
            count => self.bytes as f64 / count as f64,
        }
    }

    fn spread(&self) -> LatencySpread {
        LatencySpread::of(&self.latency)
    }

    fn row(&self) -> SeriesRow {
        row((self.bytes, self.errors), &self.latency, self.unanswered)
    }

    fn add(&mut self, part: &SeriesInterval) {
        self.bytes += part.bytes;
        self.errors += part.errors;
        self.latency.merge(&part.latency);
    }
}

fn row((bytes, errors): (u64, u64), latency: &Histogram, unanswered: Unanswered) -> SeriesRow {
    SeriesRow { bytes, errors, latency: latency.summary(), unanswered }
}

#[cfg(test)]
mod tests;
