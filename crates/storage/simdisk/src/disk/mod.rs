//! One disk with an arm: its position, its queue, and the end of the next request.

mod geometry;
mod queue;
#[cfg(test)]
mod real_drives;
mod seek;
mod write_cache;

pub(crate) use geometry::Geometry;
pub(crate) use queue::QueuePolicy;
use queue::QueuedCost;
pub(crate) use seek::{DataSheetSeeks, SeekCurve, SeekFamily};
pub(crate) use write_cache::{CachedDisk, DiskStep, WriteCacheParameters};

/// Nanoseconds of virtual time.
pub(crate) type VirtualMoment = u64;

/// Parameters of a disk. Times in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DiskParameters {
    /// Layout of the bytes.
    pub geometry: Geometry,
    /// How long the arm takes.
    pub seek: SeekCurve,
    /// Extra settle time of the arm for a write.
    pub write_settle: f64,
    /// Overhead of every command besides the mechanics.
    pub overhead: f64,
    /// Requests among which the disk chooses.
    pub queue_depth: usize,
    /// How it chooses.
    pub(crate) policy: QueuePolicy,
    /// Bytes that it reads ahead after a read while it has nothing else to do.
    pub read_ahead: f64,
    /// Its own memory for writes.
    pub write_cache: WriteCacheParameters,
}

/// One request for the medium. `token` is returned on completion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MediaRequest {
    pub token: u32,
    pub is_write: bool,
    /// Whether a write must be on the medium before it is acknowledged.
    pub is_durable: bool,
    /// Whether it was acknowledged before, so that the arm merely completes earlier work.
    pub is_acknowledged: bool,
    /// The host write that it is part of.
    pub origin: Option<u64>,
    pub offset: u64,
    pub length: u64,
    pub arrived: VirtualMoment,
}

/// One disk.
pub(crate) struct DiskArm {
    parameters: DiskParameters,
    /// Angle of its platters at time zero, in revolutions.
    phase: f64,
    waiting: Vec<PlacedRequest>,
    current: Option<MediaRequest>,
    stroke: f64,
    /// End of the last read, and when it was done.
    read_to: Option<(u64, VirtualMoment)>,
    /// Requests done.
    pub served: u64,
    /// Busy time in nanoseconds.
    pub busy: u64,
}

/// A request with its position on the medium, which is needed each time the next one is chosen.
#[derive(Clone, Copy, Debug)]
struct PlacedRequest {
    request: MediaRequest,
    stroke: f64,
    angle: f64,
}

impl DiskArm {
    pub(crate) const fn new(parameters: DiskParameters, phase: f64) -> Self {
        Self {
            parameters,
            phase,
            waiting: Vec::new(),
            current: None,
            stroke: 0.0,
            read_to: None,
            served: 0,
            busy: 0,
        }
    }

    /// Queue length and arm distance, by which a mirror chooses a disk.
    pub(crate) fn distance(&self, offset: u64) -> (usize, f64) {
        let queued = self.waiting.len() + usize::from(self.current.is_some());
        (queued, (self.parameters.geometry.stroke_of(offset as f64) - self.stroke).abs())
    }

    /// Accepts a request; returns its completion time if it starts at once.
    pub(crate) fn submit(
        &mut self,
        now: VirtualMoment,
        request: MediaRequest,
    ) -> Option<VirtualMoment> {
        let geometry = &self.parameters.geometry;
        let stroke = geometry.stroke_of(request.offset as f64);
        let angle = geometry.angle(stroke);
        self.waiting.push(PlacedRequest { request, stroke, angle });
        self.begin(now)
    }

    /// Completes the current request; returns when the next one completes, if one is queued.
    pub(crate) fn done(&mut self, now: VirtualMoment) -> (MediaRequest, Option<VirtualMoment>) {
        let done = self.current.take().expect("invariant: a disk is done with what it has begun");
        self.served += 1;
        (done, self.begin(now))
    }

    /// Whether it is idle.
    pub(crate) const fn is_idle(&self) -> bool {
        self.current.is_none() && self.waiting.is_empty()
    }

    fn begin(&mut self, now: VirtualMoment) -> Option<VirtualMoment> {
        if self.current.is_some() || self.waiting.is_empty() {
            return None;
        }
        let placed = self.waiting.remove(self.choose(now));
        let finish = self.finish(now, &placed);
        let request = placed.request;
        let end = request.offset + request.length;
        self.stroke = self.parameters.geometry.stroke_of(end as f64);
        self.read_to = (!request.is_write).then_some((end, finish));
        self.busy += finish - now;
        self.current = Some(request);
        Some(finish)
    }

    /// The index of the request that is served next.
    fn choose(&self, now: VirtualMoment) -> usize {
        let window = &self.waiting[..self.waiting.len().min(self.parameters.queue_depth.max(1))];
        let cost = ArmCost { arm: self, now, now_ms: milliseconds(now) };
        self.parameters.policy.choose(window, self.stroke, |placed| placed.stroke, &cost)
    }

    /// When a request that starts now completes.
    fn finish(&self, now: VirtualMoment, placed: &PlacedRequest) -> VirtualMoment {
        let request = &placed.request;
        let transfer = request.length as f64 / self.parameters.geometry.rate(placed.stroke);
        let now_ms = milliseconds(now);
        let begun = self.read_on(now, request).unwrap_or_else(|| self.positioned(now_ms, placed));
        let least = now_ms + self.parameters.overhead;
        moment((begun + transfer).max(least)).max(now + 1)
    }

    /// When the head began to read ahead, in milliseconds, if `request` continues the last read.
    /// `None` if it does not, or if the read-ahead buffer filled up before the end of `request`.
    fn read_on(&self, now: VirtualMoment, request: &MediaRequest) -> Option<f64> {
        let (end, at) = self.read_to?;
        if request.is_write || request.offset != end || self.parameters.read_ahead <= 0.0 {
            return None;
        }
        let geometry = &self.parameters.geometry;
        let rate = geometry.rate(geometry.stroke_of(end as f64));
        let since = milliseconds(now.saturating_sub(at));
        let is_ahead = since * rate <= self.parameters.read_ahead;
        // A full segment is served from memory; anything after it needs a new seek.
        let is_whole = request.length as f64 <= self.parameters.read_ahead;
        (is_ahead || is_whole).then(|| milliseconds(at))
    }

    /// When the head is above the first byte, in milliseconds, if it sets out at `now_ms`.
    fn positioned(&self, now_ms: f64, placed: &PlacedRequest) -> f64 {
        let DiskParameters { geometry, seek, write_settle, overhead, .. } = &self.parameters;
        let PlacedRequest { request, stroke, angle } = placed;
        let settle = if request.is_write { *write_settle } else { 0.0 };
        let there = now_ms + overhead + seek.milliseconds((stroke - self.stroke).abs()) + settle;
        let turned = fraction(there / geometry.revolution + self.phase);
        let ahead = angle - turned;
        let wait = if ahead < 0.0 { ahead + 1.0 } else { ahead };
        there + wait * geometry.revolution
    }
}

/// Cost of requests for the arm at its present position.
struct ArmCost<'a> {
    arm: &'a DiskArm,
    now: VirtualMoment,
    now_ms: f64,
}

impl QueuedCost<PlacedRequest> for ArmCost<'_> {
    fn positioning(&self, placed: &PlacedRequest) -> f64 {
        self.arm.positioned(self.now_ms, placed) - self.now_ms
    }

    fn least_positioning(&self, placed: &PlacedRequest) -> f64 {
        let DiskParameters { seek, overhead, .. } = &self.arm.parameters;
        overhead + seek.least_milliseconds((placed.stroke - self.arm.stroke).abs())
    }

    fn waited(&self, placed: &PlacedRequest) -> f64 {
        milliseconds(self.now.saturating_sub(placed.request.arrived))
    }
}

/// Nanoseconds in milliseconds, by way of signed integers, which processors convert directly.
const fn milliseconds(nanoseconds: VirtualMoment) -> f64 {
    nanoseconds.cast_signed() as f64 / 1e6
}

/// Milliseconds as the next whole nanosecond.
#[expect(clippy::cast_possible_truncation, reason = "290 years of it fit")]
pub(crate) fn moment(milliseconds: f64) -> VirtualMoment {
    let nanoseconds = milliseconds * 1e6;
    let whole = nanoseconds as i64;
    (whole + i64::from((whole as f64) < nanoseconds)).cast_unsigned()
}

/// The fractional part of a positive number. `fract` would be a function call on processors that
/// may lack the instruction, and disks compute this for every waiting request.
#[expect(clippy::cast_possible_truncation, reason = "turns of a disk: far below 2^53")]
fn fraction(turns: f64) -> f64 {
    turns - (turns as i64) as f64
}

/// Microseconds as the next whole nanosecond.
pub(crate) fn micros(microseconds: f64) -> VirtualMoment {
    moment(microseconds / 1e3)
}

#[cfg(test)]
mod tests;
