//! A load in virtual time: sessions, logs and background tasks send requests, arrays answer them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::{Nanos, Prng, Seed};

use super::database::SimulatedDatabase;
use super::log::LogWrite;
use super::{
    LoadedDatabase, OperationFlow, OperationKind, OperationLoad, OperationPlace, Placement,
    RequestBeside, ScanShape, SpanShape,
};
use crate::array::{HostRequest, HostWork};
use crate::description::{ArrayDescription, DescriptionError};
use crate::disk::VirtualMoment;
use crate::file_system::Metadata;
use crate::host::HostProcessors;
use crate::host_cache::{CachedArray, HostCacheCounters};
use crate::slots::SlotTable;

/// Result of a request, or of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationAnswer {
    /// Number of the database in the load.
    pub database: usize,
    /// Its purpose.
    pub kind: OperationKind,
    /// Its bytes; 0 for a batch.
    pub bytes: u64,
    /// Its duration.
    pub latency: Nanos,
    /// Whether it is a read that a warm cache would have answered.
    pub is_warming: bool,
}

/// Minimum time of a batch, so that time advances even if nothing is read or awaited.
const SHORTEST_BATCH: VirtualMoment = 1_000;

/// A load running on arrays.
pub struct OperationRun<'a> {
    rest_percent: u64,
    pub(super) scan: Option<ScanShape>,
    pub(super) processors: Option<HostProcessors>,
    pub(super) arrays: Vec<CachedArray>,
    pub(super) databases: Vec<SimulatedDatabase<'a>>,
    sessions: Vec<SimulatedSession>,
    requests: SlotTable<PendingRequest>,
    pub(super) flows: Vec<FlowState>,
    /// The current virtual time.
    pub(super) now: VirtualMoment,
    timers: BinaryHeap<Reverse<(VirtualMoment, u64, Timer)>>,
    sequence: u64,
}

/// A flow in progress.
pub(super) struct FlowState {
    pub(super) flow: OperationFlow,
    /// Bytes processed so far.
    pub(super) done: u64,
    /// Whether it makes further requests.
    pub(super) is_open: bool,
    /// Whether a request is in flight.
    pub(super) is_busy: bool,
}

/// An event without any array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A session continues.
    Session(u32),
    /// The scan of a database reads.
    Scan(u32),
    /// A flow makes its next request.
    Flow(u32),
    /// The checkpoint of a database may be due.
    Checkpoint(u32),
}

/// The waiter for a request.
#[derive(Clone, Copy)]
pub(super) enum Waiter {
    Session(u32),
    /// A session whose cache is cold.
    Warming(u32),
    Write,
    Log,
    Scan,
    Chain(usize),
    /// A flow, by its number.
    Flow(u32),
    /// No waiter.
    None,
    /// Another request, which completes only with this one: a write of the file system beside it.
    Beside(u32),
    /// No waiter, and not a request of the database: a write of the file system.
    Unseen,
}

#[derive(Clone, Copy)]
struct PendingRequest {
    database: u32,
    kind: OperationKind,
    bytes: u64,
    begun: VirtualMoment,
    waiter: Waiter,
    /// Number of answers still awaited.
    parts: u32,
}

/// One session.
struct SimulatedSession {
    database: u32,
    prng: Prng,
    batch: usize,
    span: usize,
    /// Reads of the span that have not begun.
    reads_left: u32,
    /// Reads of the span that a warm cache would answer, and that have not begun.
    cold_left: u32,
    /// Reads of the batch that have begun.
    reads_begun: usize,
    /// Start of the last read.
    last_read: u64,
    begun: VirtualMoment,
    step: SessionStep,
}

/// Next step of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionStep {
    /// It takes a new batch, once its pace has room.
    Begin,
    /// It takes a new batch.
    Draw,
    /// It begins a transaction.
    Enter,
    /// It reads.
    Read,
    /// The processors are done with the transaction: it commits.
    Commit,
    /// The transaction is over.
    Committed,
}

impl<'a> OperationRun<'a> {
    /// Creates a load on the arrays of these descriptions, ready to start. `seed` decides the
    /// angles of platters, the batches and the addresses.
    pub fn new(
        arrays: &[ArrayDescription],
        load: OperationLoad<'a>,
        seed: Seed,
    ) -> Result<Self, DescriptionError> {
        let mut states = Vec::new();
        for (index, array) in (0..).zip(arrays) {
            states.push(CachedArray::new(&array.model(&array.name)?, seed.derive(index)));
        }
        let mut run = Self {
            rest_percent: u64::from(load.rest_percent),
            scan: load.scan,
            processors: load.processors,
            arrays: states,
            databases: Vec::new(),
            sessions: Vec::new(),
            requests: SlotTable::default(),
            flows: Vec::new(),
            now: 0,
            timers: BinaryHeap::new(),
            sequence: 0,
        };
        run.warm(&load.databases);
        for (number, database) in (0..).zip(load.databases) {
            let seed = seed.derive(u64::MAX - u64::from(number));
            let places = (database.place, database.log);
            let array = &arrays[database.place.array];
            // The databases of an array share the file system structures at its end.
            let end = run.arrays[database.place.array].capacity();
            let metadata = Metadata::new(array.file_system, end, seed.derive(u64::MAX - 1));
            let prng = Prng::new(seed.derive(u64::MAX));
            run.databases.push(SimulatedDatabase::new(
                database.profile.unwrap_or(load.profile),
                places,
                database.pace,
                (prng, metadata),
            ));
            for session in 0..database.sessions {
                run.add_session(number, Prng::new(seed.derive(u64::from(session))));
            }
            run.schedule(number);
        }
        Ok(run)
    }

    /// Starts the timers of a database.
    fn schedule(&mut self, number: u32) {
        if let Some(scan) = self.scan {
            self.at(scan.pause.0, Timer::Scan(number));
        }
        let checkpoint = &self.databases[number as usize].profile.log.checkpoint;
        if !checkpoint.requests.is_empty() {
            self.at(checkpoint.period.0, Timer::Checkpoint(number));
        }
    }

    /// Fills the host's caches that are initially warm.
    fn warm(&mut self, databases: &[LoadedDatabase<'_>]) {
        for OperationPlace { array, base, bytes } in databases.iter().map(|of| of.place) {
            let beside = databases.iter().filter(|of| of.place.array == array).count();
            self.arrays[array].warm(base..base + bytes, 1.0 / beside as f64);
        }
    }

    /// Advances time to a moment, and reports every answer until then. Not generic: the model is
    /// compiled in this crate alone, for speed.
    pub fn advance(&mut self, until: Nanos, told: &mut dyn FnMut(OperationAnswer)) {
        let mut answered = Vec::new();
        while let Some((now, array)) = self.next_event().filter(|(at, _)| *at <= until.0) {
            if let Some(array) = array {
                self.arrays[array].advance(now, |token| answered.push(token));
                for token in answered.drain(..) {
                    self.answered(now, token, told);
                }
            } else if let Some(Reverse((_, _, timer))) = self.timers.pop() {
                match timer {
                    Timer::Session(session) => self.go_on(now, session, told),
                    Timer::Scan(database) => self.scan(now, database),
                    Timer::Flow(flow) => self.flow(now, flow),
                    Timer::Checkpoint(database) => self.look_at_checkpoint(now, database),
                }
            }
        }
        self.now = self.now.max(until.0);
    }

    /// Fill level of the write memory of its arrays, in shares of one array's; `None` if no array
    /// keeps writes there.
    pub fn filled_memory(&self) -> Option<f64> {
        let filled: Vec<f64> = self.arrays.iter().filter_map(CachedArray::filled_memory).collect();
        (!filled.is_empty()).then(|| filled.iter().sum())
    }

    /// Counters of the host's cache in front of each array; arrays without one are omitted.
    pub fn host_caches(&self) -> Vec<HostCacheCounters> {
        self.arrays.iter().filter_map(CachedArray::counters).collect()
    }

    /// Events of the simulation so far.
    pub fn events(&self) -> u64 {
        self.sequence + self.arrays.iter().map(CachedArray::events).sum::<u64>()
    }

    /// Time of the next event, and its array; `None` for a timer.
    fn next_event(&self) -> Option<(VirtualMoment, Option<usize>)> {
        let mut next = self.timers.peek().map(|Reverse((at, ..))| (*at, None));
        for (index, array) in self.arrays.iter().enumerate() {
            if let Some(at) = array.next_event()
                && next.is_none_or(|(soonest, _)| at < soonest)
            {
                next = Some((at, Some(index)));
            }
        }
        next
    }

    pub(super) fn at(&mut self, moment: VirtualMoment, timer: Timer) {
        self.sequence += 1;
        self.timers.push(Reverse((moment, self.sequence, timer)));
    }

    fn add_session(&mut self, database: u32, prng: Prng) {
        let session = SimulatedSession {
            database,
            prng,
            batch: 0,
            span: 0,
            reads_left: 0,
            cold_left: 0,
            reads_begun: 0,
            last_read: 0,
            begun: 0,
            step: SessionStep::Begin,
        };
        self.sessions.push(session);
        let number = u32::try_from(self.sessions.len() - 1).expect("invariant: few sessions");
        self.at(0, Timer::Session(number));
    }

    /// Runs a session until it must wait.
    fn go_on(&mut self, now: VirtualMoment, session: u32, told: &mut dyn FnMut(OperationAnswer)) {
        loop {
            let may_go_on = match self.sessions[session as usize].step {
                SessionStep::Begin => self.keep_pace(now, session),
                SessionStep::Draw => self.draw(now, session),
                SessionStep::Enter => self.enter(now, session),
                SessionStep::Read => self.read_next(now, session),
                SessionStep::Commit => self.commit(now, session),
                SessionStep::Committed => self.end_span(now, session, told),
            };
            if !may_go_on {
                return;
            }
        }
    }

    /// Waits until the pace has room for a batch.
    fn keep_pace(&mut self, now: VirtualMoment, session: u32) -> bool {
        let state = &mut self.sessions[session as usize];
        let database = &mut self.databases[state.database as usize];
        if !database.is_running {
            database.parked.push(session);
            return false;
        }
        if let Some(pace) = &mut database.pace {
            let due = pace(database.requests, database.under_way, Nanos(now)).0;
            if due > now {
                self.at(due, Timer::Session(session));
                return false;
            }
        }
        database.under_way += 1;
        state.step = SessionStep::Draw;
        true
    }

    fn draw(&mut self, now: VirtualMoment, session: u32) -> bool {
        let state = &mut self.sessions[session as usize];
        let profile = self.databases[state.database as usize].profile;
        let batches = profile.batches.len().max(1) as u64;
        let drawn = state.prng.below(batches);
        state.batch = usize::try_from(drawn).expect("invariant: the number of a batch");
        (state.span, state.reads_begun, state.begun) = (0, 0, now);
        state.step = SessionStep::Enter;
        !profile.batches.is_empty()
    }

    fn span_of(&self, session: u32) -> Option<SpanShape> {
        let state = &self.sessions[session as usize];
        let profile = self.databases[state.database as usize].profile;
        profile.batches[state.batch].spans.get(state.span).copied()
    }

    /// Begins a transaction.
    fn enter(&mut self, now: VirtualMoment, session: u32) -> bool {
        let Some(span) = self.span_of(session) else {
            self.sessions[session as usize].step = SessionStep::Committed;
            return true;
        };
        let state = &mut self.sessions[session as usize];
        let cold_left = self.databases[state.database as usize].cold_reads(span.reads);
        state.step = SessionStep::Read;
        (state.reads_left, state.cold_left) = (span.reads, cold_left);
        for _ in 0..span.reads_beside {
            let database = self.sessions[session as usize].database;
            if !self.databases[database as usize].has_read_ahead() {
                self.read(now, session, Waiter::None);
            }
        }
        true
    }

    /// The next read of a transaction, or its processor time, which precedes its commit as in the
    /// engine: transactions that have passed one processor reach the log one by one.
    fn read_next(&mut self, now: VirtualMoment, session: u32) -> bool {
        let state = &mut self.sessions[session as usize];
        let number = state.database;
        let database = &mut self.databases[number as usize];
        if state.reads_left > 0 {
            if database.is_behind(database.profile) {
                database.stalled.push(session);
                return false;
            }
            state.reads_left -= 1;
            self.read(now, session, Waiter::Session(session));
            return false;
        }
        if state.cold_left > 0 {
            state.cold_left -= 1;
            self.read_cold(now, session);
            return false;
        }
        state.step = SessionStep::Commit;
        let updates = self.span_of(session).map_or(0, |span| span.updates);
        let Some(processors) = &mut self.processors else {
            return true;
        };
        let done = processors.done(Nanos(now), updates.into());
        self.at(done.0, Timer::Session(session));
        false
    }

    fn commit(&mut self, now: VirtualMoment, session: u32) -> bool {
        let number = self.sessions[session as usize].database;
        let SimulatedDatabase { log, profile, .. } = &mut self.databases[number as usize];
        let profile = *profile;
        if log.is_full(&profile.log) {
            let added = log.add(0, &profile.log);
            log.wait(added, session);
            self.write_log(now, number);
            return false;
        }
        self.sessions[session as usize].step = SessionStep::Committed;
        let Some(span) = self.span_of(session) else {
            return true;
        };
        let log = &mut self.databases[number as usize].log;
        let end = log.add(span.log_bytes, &profile.log);
        let goes_on = !span.is_durable || log.wait(end, session);
        self.write_log(now, number);
        goes_on
    }

    /// Continues with the next transaction, or rests after the batch.
    fn end_span(
        &mut self,
        now: VirtualMoment,
        session: u32,
        told: &mut dyn FnMut(OperationAnswer),
    ) -> bool {
        let state = &mut self.sessions[session as usize];
        state.span += 1;
        state.step = SessionStep::Enter;
        let profile = self.databases[state.database as usize].profile;
        if state.span < profile.batches[state.batch].spans.len() {
            return true;
        }
        state.step = SessionStep::Begin;
        let latency = now - state.begun;
        let database = state.database as usize;
        self.databases[database].under_way -= 1;
        let kind = OperationKind::Batch;
        let (bytes, is_warming) = (0, false);
        told(OperationAnswer { database, kind, bytes, latency: Nanos(latency), is_warming });
        let rest = (latency / 100 * self.rest_percent).max(SHORTEST_BATCH.saturating_sub(latency));
        self.at(now + rest, Timer::Session(session));
        false
    }

    fn read(&mut self, now: VirtualMoment, session: u32, waiter: Waiter) {
        let state = &mut self.sessions[session as usize];
        let number = state.database;
        let profile = self.databases[number as usize].profile;
        let bytes = profile.read_bytes;
        let placements = &profile.batches[state.batch].reads;
        let placement = placements.get(state.reads_begun).copied().unwrap_or_default();
        state.reads_begun += 1;
        let database = &mut self.databases[number as usize];
        let base = database.placed(placement, state.last_read, (bytes, bytes));
        state.last_read = base;
        let place = OperationPlace { base, ..database.place };
        database.note_read(profile);
        database.cold_left = database.cold_left.saturating_sub(1);
        self.ask(now, number, (OperationKind::DatabaseRead, waiter), place, bytes);
        self.write_database(now, number);
    }

    /// Makes a read that a warm cache would have answered.
    fn read_cold(&mut self, now: VirtualMoment, session: u32) {
        let number = self.sessions[session as usize].database;
        let database = &mut self.databases[number as usize];
        let bytes = database.profile.read_bytes;
        let base = database.placed(Placement::Anywhere, 0, (bytes, bytes));
        database.cold_left = database.cold_left.saturating_sub(1);
        let place = OperationPlace { base, ..database.place };
        let waiter = Waiter::Warming(session);
        self.ask(now, number, (OperationKind::DatabaseRead, waiter), place, bytes);
    }

    fn write_database(&mut self, now: VirtualMoment, number: u32) {
        let profile = self.databases[number as usize].profile;
        while let Some((base, bytes)) = self.databases[number as usize].next_write(profile) {
            let place = OperationPlace { base, ..self.databases[number as usize].place };
            self.ask(now, number, (OperationKind::DatabaseWrite, Waiter::Write), place, bytes);
        }
    }

    fn write_log(&mut self, now: VirtualMoment, number: u32) {
        let database = &mut self.databases[number as usize];
        let Some(LogWrite { at, bytes }) = database.log.next_write(&database.profile.log) else {
            return;
        };
        let place = database.log_place;
        let base = place.base + at % place.bytes;
        let place = OperationPlace { base, ..place };
        database.note_log_write(database.profile);
        self.read_ahead(now, number);
        self.write_database(now, number);
        self.ask(now, number, (OperationKind::LogWrite, Waiter::Log), place, bytes);
    }

    /// Makes the read that precedes a log write, if one does.
    fn read_ahead(&mut self, now: VirtualMoment, number: u32) {
        let database = &mut self.databases[number as usize];
        let profile = database.profile;
        if !database.reads_ahead(profile) {
            return;
        }
        let bytes = profile.read_bytes;
        let base = database.placed(Placement::Anywhere, 0, (bytes, bytes));
        let place = OperationPlace { base, ..database.place };
        database.note_read(profile);
        self.ask(now, number, (OperationKind::DatabaseRead, Waiter::None), place, bytes);
    }

    fn ask_beside(&mut self, now: VirtualMoment, number: u32, chain: usize) {
        let Some((place, request)) = self.databases[number as usize].next_beside(chain) else {
            return;
        };
        self.ask(now, number, (request.kind, Waiter::Chain(chain)), place, request.bytes);
    }

    /// Advances the checkpoint if a period has passed since the last advance ended.
    fn look_at_checkpoint(&mut self, now: VirtualMoment, number: u32) {
        let database = &mut self.databases[number as usize];
        let period = database.profile.log.checkpoint.period.0;
        let due = database.checkpoint_ended + period;
        if now < due {
            return self.at(due, Timer::Checkpoint(number));
        }
        database.advance_checkpoint(database.profile, 1);
        self.ask_beside(now, number, RequestBeside::CHECKPOINT_CHAIN);
        self.at(now + period, Timer::Checkpoint(number));
    }

    fn scan(&mut self, now: VirtualMoment, number: u32) {
        let Some(ScanShape { bytes, .. }) = self.scan else {
            return;
        };
        let database = &mut self.databases[number as usize];
        if !database.is_running {
            database.is_scan_parked = true;
            return;
        }
        let place =
            OperationPlace { base: database.place.base + database.scanned, ..database.place };
        database.scanned += bytes;
        if database.scanned + bytes > database.place.bytes {
            database.scanned = 0;
        }
        self.ask(now, number, (OperationKind::MaintenanceRead, Waiter::Scan), place, bytes);
    }

    pub(super) fn ask(
        &mut self,
        now: VirtualMoment,
        database: u32,
        (kind, waiter): (OperationKind, Waiter),
        place: OperationPlace,
        bytes: u64,
    ) {
        let work = kind.work();
        let request = PendingRequest { database, kind, bytes, begun: now, waiter, parts: 1 };
        let token = self.requests.put(request);
        if let HostWork::Write(_) = work {
            self.write_metadata(now, token, (place.array, work));
        }
        let request =
            HostRequest { token: u64::from(token), work, offset: place.base, length: bytes };
        self.arrays[place.array].submit(now, volume(database, kind), request);
    }

    /// Sends the file system's additional writes for the write of this slot.
    fn write_metadata(&mut self, now: VirtualMoment, slot: u32, (array, work): (usize, HostWork)) {
        let PendingRequest { database, kind, .. } = *self.requests.get(slot);
        let metadata = &mut self.databases[database as usize].metadata;
        let is_awaited = metadata.is_awaited();
        let waiter = if is_awaited { Waiter::Beside(slot) } else { Waiter::Unseen };
        for (offset, length) in metadata.owed() {
            self.requests.get_mut(slot).parts += u32::from(is_awaited);
            let request =
                PendingRequest { database, kind, bytes: length, begun: now, waiter, parts: 1 };
            let token = u64::from(self.requests.put(request));
            let request = HostRequest { token, work, offset, length };
            self.arrays[array].submit(now, volume(database, OperationKind::LogWrite), request);
        }
    }

    /// The request that this slot's answer completes, if any.
    fn whole(&mut self, slot: u32) -> Option<u32> {
        let slot = match self.requests.get(slot).waiter {
            Waiter::Unseen => {
                self.requests.take(slot);
                return None;
            }
            Waiter::Beside(of) => {
                self.requests.take(slot);
                of
            }
            _ => slot,
        };
        let request = self.requests.get_mut(slot);
        request.parts -= 1;
        (request.parts == 0).then_some(slot)
    }

    /// Handles the answer to a request that a session or a task waits for.
    fn answered(&mut self, now: VirtualMoment, token: u64, told: &mut dyn FnMut(OperationAnswer)) {
        let slot = u32::try_from(token).expect("invariant: the number of a request");
        let Some(slot) = self.whole(slot) else {
            return;
        };
        let PendingRequest { database: number, kind, bytes, begun, waiter, .. } =
            self.requests.take(slot);
        if let Waiter::Flow(flow) = waiter {
            return self.flow_went_on(now, flow, (begun, bytes));
        }
        let latency = Nanos(now - begun);
        let is_warming = matches!(waiter, Waiter::Warming(_));
        told(OperationAnswer { database: number as usize, kind, bytes, latency, is_warming });
        let database = &mut self.databases[number as usize];
        let is_counted = matches!(kind, OperationKind::DatabaseRead | OperationKind::DatabaseWrite);
        if is_counted && !is_warming {
            database.requests += 1;
        }
        match waiter {
            Waiter::None | Waiter::Beside(_) | Waiter::Unseen | Waiter::Flow(_) => {}
            Waiter::Session(session) | Waiter::Warming(session) => {
                self.go_on(now, session, told);
            }
            Waiter::Scan => {
                let pause = self.scan.map_or(0, |scan| scan.pause.0);
                self.at(now + pause, Timer::Scan(number));
            }
            Waiter::Chain(chain) => {
                database.beside_done(chain);
                if chain == RequestBeside::CHECKPOINT_CHAIN {
                    database.checkpoint_ended = now;
                }
                self.ask_beside(now, number, chain);
            }
            Waiter::Write => self.write_done(now, number, told),
            Waiter::Log => self.log_written(now, number, told),
        }
    }

    fn write_done(
        &mut self,
        now: VirtualMoment,
        number: u32,
        told: &mut dyn FnMut(OperationAnswer),
    ) {
        let database = &mut self.databases[number as usize];
        database.write_done(database.profile);
        let stalled = if database.is_behind(database.profile) {
            Vec::new()
        } else {
            std::mem::take(&mut database.stalled)
        };
        self.write_database(now, number);
        for session in stalled {
            self.go_on(now, session, told);
        }
    }

    /// The next write starts before the waiters add to it, as in the engine.
    fn log_written(
        &mut self,
        now: VirtualMoment,
        number: u32,
        told: &mut dyn FnMut(OperationAnswer),
    ) {
        let database = &mut self.databases[number as usize];
        database.log.written();
        database.log_went_on(database.profile);
        database.advance_checkpoint(database.profile, database.profile.log.checkpoint.step_bytes);
        let served = database.log.served();
        self.write_log(now, number);
        for chain in 0..RequestBeside::CHAINS {
            self.ask_beside(now, number, chain);
        }
        for session in served {
            self.go_on(now, session, told);
        }
    }
}

/// The volume of a request as seen by a cache in the host: one for the database and one for its
/// log.
fn volume(database: u32, kind: OperationKind) -> u64 {
    let is_log = matches!(
        kind,
        OperationKind::LogWrite
            | OperationKind::LogFormat
            | OperationKind::LogRead
            | OperationKind::ReplicationRead
    );
    u64::from(database) * 2 + u64::from(is_log)
}
