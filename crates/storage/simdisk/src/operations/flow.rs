//! Copies beside the load, and changes during a load: databases that stop and start with a cold
//! cache, drives that fail and are rebuilt.

use super::run::{FlowState, OperationRun, Timer, Waiter};
use super::{ColdCache, OperationFlow, OperationKind, OperationPlace};
use crate::array::ArrayUsage;
use crate::disk::{VirtualMoment, micros};

impl OperationRun<'_> {
    /// Starts or stops the sessions of a database. A batch in flight is completed.
    pub fn set_running(&mut self, database: usize, is_running: bool) {
        let now = self.now;
        let state = &mut self.databases[database];
        if state.is_running == is_running {
            return;
        }
        state.is_running = is_running;
        if !is_running {
            return;
        }
        let is_scan_parked = std::mem::take(&mut state.is_scan_parked);
        for session in std::mem::take(&mut state.parked) {
            self.at(now, Timer::Session(session));
        }
        if let Some(scan) = self.scan.filter(|_| is_scan_parked) {
            self.at(now + scan.pause.0, Timer::Scan(flow_number(database)));
        }
    }

    /// Empties the cache of a database: until it is warm again, reads reach storage that it would
    /// have answered.
    pub fn cool(&mut self, database: usize) {
        let state = &mut self.databases[database];
        let ColdCache { pages, extra_reads } = state.profile.cold;
        state.cold_left = if extra_reads > 0.0 { pages } else { 0 };
    }

    /// Number of reads left until the cache of a database is warm.
    pub fn cold_reads_left(&self, database: usize) -> u64 {
        self.databases[database].cold_left
    }

    /// Counts another `reads` as made with a cold cache, for time that is skipped and not
    /// simulated.
    pub fn skip_cold_reads(&mut self, database: usize, reads: u64) {
        let left = &mut self.databases[database].cold_left;
        *left = left.saturating_sub(reads);
    }

    /// Begins a copy; returns its number.
    pub fn begin_flow(&mut self, flow: OperationFlow) -> usize {
        self.flows.push(FlowState { flow, done: 0, is_open: true, is_busy: false });
        let number = self.flows.len() - 1;
        self.at(self.now, Timer::Flow(flow_number(number)));
        number
    }

    /// Ends a copy, complete or not.
    pub fn end_flow(&mut self, flow: usize) {
        self.flows[flow].is_open = false;
    }

    /// Bytes that a copy has moved.
    pub fn flow_bytes(&self, flow: usize) -> u64 {
        self.flows[flow].done
    }

    /// Counts another `bytes` as copied, for time that is skipped and not simulated.
    pub fn skip_flow(&mut self, flow: usize, bytes: u64) {
        let FlowState { flow, done, .. } = &mut self.flows[flow];
        *done = (*done + bytes / flow.request_bytes * flow.request_bytes).min(flow.place.bytes);
    }

    /// Fails a drive of an array.
    pub fn fail_drive(&mut self, array: usize) {
        self.arrays[array].array_mut().fail_drive();
    }

    /// Starts rebuilding the failed drive onto a spare, at `rate` bytes per second, or without a
    /// rate in the share of the time that the array's description allots.
    pub fn rebuild_from_now(&mut self, array: usize, rate: Option<f64>) {
        self.arrays[array].array_mut().rebuild_from(self.now, rate);
    }

    /// Rebuilt bytes of the failed drive, and its length; `None` if all drives are whole.
    pub fn rebuild_state(&self, array: usize) -> Option<(u64, u64)> {
        self.arrays[array].array().rebuild_state()
    }

    /// Counts another `bytes` as rebuilt, for time that is skipped and not simulated.
    pub fn skip_rebuild(&mut self, array: usize, bytes: u64) {
        self.arrays[array].array_mut().skip_rebuild(bytes);
    }

    /// How busy the arrays have been since the beginning.
    pub fn usage(&self) -> Vec<ArrayUsage> {
        self.arrays.iter().map(|of| of.array().usage()).collect()
    }

    /// Sends the next request of a flow.
    pub(super) fn flow(&mut self, now: VirtualMoment, number: u32) {
        let state = &mut self.flows[number as usize];
        let OperationFlow { place, request_bytes, is_write, .. } = state.flow;
        let bytes = request_bytes.min(place.bytes.saturating_sub(state.done));
        if !state.is_open || state.is_busy || bytes == 0 {
            return;
        }
        state.is_busy = true;
        let place = OperationPlace { base: place.base + state.done, ..place };
        let kind = if is_write { OperationKind::LogFormat } else { OperationKind::MaintenanceRead };
        self.ask(now, 0, (kind, Waiter::Flow(number)), place, bytes);
    }

    /// Completes a request of a flow; the next one follows at its rate.
    pub(super) fn flow_went_on(
        &mut self,
        now: VirtualMoment,
        number: u32,
        (begun, bytes): (VirtualMoment, u64),
    ) {
        let state = &mut self.flows[number as usize];
        (state.done, state.is_busy) = (state.done + bytes, false);
        let due = begun + micros(bytes as f64 / state.flow.rate * 1e6);
        self.at(due.max(now), Timer::Flow(number));
    }
}

fn flow_number(index: usize) -> u32 {
    u32::try_from(index).expect("invariant: few copies are under way")
}
