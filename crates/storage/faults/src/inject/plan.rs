//! A fault plan as data, and the pure part of following it.

use device::{ALIGNMENT, DeviceError, Op, OpKind, Purpose, Request};
use units::{Nanos, Prng, Seed};

/// Faults of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Decides the details: which bits, which place, which sectors.
    pub seed: Seed,
    /// Each request suffers the first fault that matches and is due.
    pub faults: Vec<Fault>,
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Requests that are counted.
    pub matching: Matching,
    /// Counted requests that the fault affects.
    pub occurrence: Occurrence,
    /// The effect.
    pub effect: Effect,
}

/// Selects the requests that a fault counts; `None` matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// The kind of request.
    pub call: Option<Call>,
    /// The purpose; operations on names have none and match only if this is `None`.
    pub purpose: Option<Purpose>,
    /// Substring of the name under which the file was opened.
    pub file: Option<String>,
}

/// Requests to a device and operations on names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A flush.
    Flush,
    /// A change of length.
    SetLength,
    /// Opening an existing file.
    Open,
    /// Creating a file.
    Create,
    /// Renaming a file.
    Rename,
    /// Removing a file.
    Remove,
}

/// Which of the matching requests are affected, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// This one.
    Nth(u64),
    /// This one and all that follow.
    From(u64),
    /// Every request whose count is a multiple of this.
    Every(u64),
}

/// Effect on a request. An effect that makes no sense for a request (a flush cannot be misdirected)
/// is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The request fails with EIO; `done` if it takes effect nevertheless.
    Fail {
        /// Whether the request was carried out before it failed.
        done: bool,
    },
    /// A write, change of length or creation finds the volume full. It has no effect.
    Full,
    /// A write finds the volume full midway: its first blocks are written, and it fails for lack of
    /// space.
    FullMidway,
    /// A read moves only part of its bytes.
    ShortRead,
    /// This many bits of the data read, or written, are flipped.
    FlipBits(u32),
    /// A write lands at another offset of the same file, a multiple of its length away.
    MisdirectWrite,
    /// A write is acknowledged and never happens.
    LoseWrite,
    /// A write is acknowledged with only some of its sectors, at least one and not all, written.
    TearWrite,
    /// The request takes this much longer.
    Stall(Nanos),
}

/// A fault that was injected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// Index of the fault in the plan.
    pub fault: usize,
    /// The name under which the file was opened.
    pub file: String,
    /// The affected call.
    pub call: Call,
    /// Byte offset that the caller requested; 0 if the call has none.
    pub offset: u64,
    /// Bytes that the caller requested.
    pub length: usize,
    /// Actual offset of a misdirected write.
    pub landed: Option<u64>,
}

/// Treatment of one request: the effect and its random details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FaultDecision {
    Pass,
    Fail {
        done: bool,
    },
    Full,
    /// The volume fills up within the write, after this many bytes.
    FullMidway {
        moved: usize,
    },
    ShortRead {
        moved: usize,
    },
    FlipBits(Vec<(usize, u8)>),
    Misdirect {
        to: u64,
    },
    Lose,
    /// Per sector of 512 bytes, whether it is written.
    Tear(Vec<bool>),
    Stall(Nanos),
}

/// Bytes written atomically.
pub(super) const SECTOR: usize = 512;

/// Progress of a plan.
#[derive(Debug)]
pub(super) struct PlanProgress {
    plan: FaultPlan,
    counts: Vec<u64>,
    prng: Prng,
    injections: Vec<Injection>,
}

impl Occurrence {
    const fn is_due(self, number: u64) -> bool {
        match self {
            Self::Nth(nth) => number == nth,
            Self::From(first) => number >= first,
            Self::Every(step) => number.is_multiple_of(step),
        }
    }
}

impl Matching {
    fn accepts(&self, call: Call, purpose: Option<Purpose>, file: &str) -> bool {
        self.call.is_none_or(|wanted| wanted == call)
            && self.purpose.is_none_or(|wanted| purpose == Some(wanted))
            && self.file.as_ref().is_none_or(|part| file.contains(part))
    }
}

impl PlanProgress {
    /// Starts `plan`, with nothing counted yet.
    pub(super) fn new(plan: FaultPlan) -> Self {
        Self {
            counts: vec![0; plan.faults.len()],
            prng: Prng::new(plan.seed),
            plan,
            injections: Vec::new(),
        }
    }

    /// Faults injected so far.
    pub(super) fn injections(&self) -> &[Injection] {
        &self.injections
    }

    /// Counts a request for every fault that matches; returns the first fault that is due.
    fn due(&mut self, call: Call, purpose: Option<Purpose>, file: &str) -> Option<usize> {
        let mut due = None;
        for (index, fault) in self.plan.faults.iter().enumerate() {
            if fault.matching.accepts(call, purpose, file) {
                self.counts[index] += 1;
                if due.is_none() && fault.occurrence.is_due(self.counts[index]) {
                    due = Some(index);
                }
            }
        }
        due
    }

    /// Decides the effect on an open, create, rename or removal of `file`.
    pub(super) fn decide_names(&mut self, call: Call, file: &str) -> Option<Effect> {
        let fault = self.due(call, None, file)?;
        let effect = self.plan.faults[fault].effect;
        let makes_sense = match effect {
            Effect::Fail { .. } | Effect::Stall(_) => true,
            Effect::Full => call == Call::Create,
            _ => false,
        };
        if !makes_sense {
            return None;
        }
        self.injections.push(Injection {
            fault,
            file: file.to_owned(),
            call,
            offset: 0,
            length: 0,
            landed: None,
        });
        Some(effect)
    }

    /// Decides the effect on a request to `file`, which is `file_length` bytes long.
    pub(super) fn decide(
        &mut self,
        file: &str,
        request: &Request,
        file_length: u64,
    ) -> FaultDecision {
        let call = call(&request.op);
        let Some(fault) = self.due(call, Some(request.purpose), file) else {
            return FaultDecision::Pass;
        };
        let effect = self.plan.faults[fault].effect;
        let decision = draw(effect, &request.op, file_length, &mut self.prng);
        if decision != FaultDecision::Pass {
            self.injections.push(Injection {
                fault,
                file: file.to_owned(),
                call,
                offset: offset(&request.op),
                length: request.op.length(),
                landed: match decision {
                    FaultDecision::Misdirect { to } => Some(to),
                    _ => None,
                },
            });
        }
        decision
    }
}

/// Draws an effect's details for one request.
fn draw(effect: Effect, op: &Op, file_length: u64, prng: &mut Prng) -> FaultDecision {
    let kind = op.kind();
    let moves = matches!(kind, OpKind::Read | OpKind::Write);
    match effect {
        Effect::Fail { done } => FaultDecision::Fail { done },
        Effect::Stall(span) => FaultDecision::Stall(span),
        Effect::Full if matches!(kind, OpKind::Write | OpKind::SetLength) => FaultDecision::Full,
        Effect::FullMidway if kind == OpKind::Write => {
            let block = ALIGNMENT.min(op.length());
            let moved = below(prng, op.length() / block) * block;
            FaultDecision::FullMidway { moved }
        }
        Effect::ShortRead if kind == OpKind::Read => {
            FaultDecision::ShortRead { moved: below(prng, op.length() / SECTOR) * SECTOR }
        }
        Effect::FlipBits(bits) if moves => {
            let flips = (0..bits).map(|_| (below(prng, op.length()), 1 << below(prng, 8)));
            FaultDecision::FlipBits(flips.collect())
        }
        Effect::LoseWrite if kind == OpKind::Write => FaultDecision::Lose,
        Effect::TearWrite if kind == OpKind::Write => {
            FaultDecision::Tear(tear(op.length() / SECTOR, prng))
        }
        Effect::MisdirectWrite if kind == OpKind::Write => {
            misdirect(offset(op), op.length() as u64, file_length, prng)
        }
        _ => FaultDecision::Pass,
    }
}

fn below(prng: &mut Prng, bound: usize) -> usize {
    let drawn = prng.below(bound as u64);
    usize::try_from(drawn).expect("invariant: below a usize")
}

/// Some sectors but not all; if there is only one, none.
fn tear(sectors: usize, prng: &mut Prng) -> Vec<bool> {
    if sectors == 1 {
        return vec![false];
    }
    let mut written: Vec<_> = (0..sectors).map(|_| prng.below(2) == 0).collect();
    let odd_one_out = below(prng, sectors);
    if written.iter().all(|&sector| sector == written[0]) {
        written[odd_one_out] = !written[odd_one_out];
    }
    written
}

/// Another position in the file, a multiple of `length` away; `None` if the file holds only this
/// one.
fn misdirect(offset: u64, length: u64, file_length: u64, prng: &mut Prng) -> FaultDecision {
    let phase = offset % length;
    let places = (file_length - phase) / length;
    if places < 2 {
        return FaultDecision::Pass;
    }
    let present = offset / length;
    let away = 1 + prng.below(places - 1);
    let to = (present + away) % places * length + phase;
    assert!(
        to.is_multiple_of(SECTOR as u64),
        "a place a multiple of an aligned length away is aligned"
    );
    FaultDecision::Misdirect { to }
}

const fn offset(op: &Op) -> u64 {
    match op {
        Op::Read { offset, .. } | Op::Write { offset, .. } => *offset,
        Op::Flush | Op::SetLength { .. } => 0,
    }
}

const fn call(op: &Op) -> Call {
    match op.kind() {
        OpKind::Read => Call::Read,
        OpKind::Write => Call::Write,
        OpKind::Flush => Call::Flush,
        OpKind::SetLength => Call::SetLength,
    }
}

/// An I/O error (EIO) marked as injected.
pub(super) fn injected_error(file: &str, call: Call, offset: u64) -> DeviceError {
    /// EIO of errno(3).
    const EIO: i32 = 5;
    let operation = match call {
        Call::Read => "read",
        Call::Write => "write",
        Call::Flush => "flush",
        Call::SetLength => "change of length",
        Call::Open | Call::Create => "open",
        Call::Rename => "rename",
        Call::Remove => "removal",
    };
    DeviceError::Io {
        file: file.to_owned(),
        offset,
        operation,
        code: EIO,
        message: "injected fault".to_owned(),
    }
}

/// The injected I/O error of `op`.
pub(super) fn injected_failure(file: &str, op: &Op) -> DeviceError {
    injected_error(file, call(op), offset(op))
}

/// The injected error of `op` on a full volume.
pub(super) fn injected_full(file: &str, op: &Op) -> DeviceError {
    let offset = match op {
        Op::SetLength { length } => *length,
        _ => offset(op),
    };
    DeviceError::Full { file: file.to_owned(), offset }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::{FaultDecision, Occurrence, misdirect, tear};

    #[test]
    fn occurrences_count_from_one() {
        let due = |occurrence: Occurrence| {
            (1..=6).filter(|&number| occurrence.is_due(number)).collect::<Vec<_>>()
        };
        assert_eq!(due(Occurrence::Nth(3)), [3]);
        assert_eq!(due(Occurrence::From(4)), [4, 5, 6]);
        assert_eq!(due(Occurrence::Every(2)), [2, 4, 6]);
    }

    #[test]
    fn a_torn_write_is_never_whole_and_never_nothing() {
        let mut prng = Prng::new(Seed(1));
        for sectors in [8, 9, 64] {
            for _ in 0..500 {
                let written = tear(sectors, &mut prng);
                assert!(written.contains(&true) && written.contains(&false));
            }
        }
    }

    #[test]
    fn a_misdirected_write_lands_inside_the_file_and_elsewhere() {
        let mut prng = Prng::new(Seed(2));
        let mut landed = std::collections::BTreeSet::new();
        for _ in 0..500 {
            // Five places of 8 KiB, one block from the beginning; a sixth does not fit.
            let decision = misdirect(12_288, 8_192, 49_000, &mut prng);
            let FaultDecision::Misdirect { to } = decision else {
                panic!("{decision:?}");
            };
            landed.insert(to);
        }
        let places = [4_096, 20_480, 28_672, 36_864];
        assert_eq!(landed, places.into_iter().collect());
        assert_eq!(misdirect(0, 8_192, 16_383, &mut prng), FaultDecision::Pass);
    }
}
