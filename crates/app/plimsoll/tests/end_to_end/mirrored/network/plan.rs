//! What happens to two hosts and their NATS server in one run, and when: drawn from its seed.

use units::{Prng, Seed};
use xtask::network::Direction;

/// The span of a pause that outlasts every lease, in milliseconds.
const LONG_PAUSE: u64 = 30_000;

/// No fault begins later than this after the first, in milliseconds.
const BEGINS_WITHIN: u64 = 12_000;

const DIRECTIONS: [Direction; 2] = [Direction::ToServer, Direction::FromServer];

/// A host by its role when the fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    Owner,
    Peer,
}

/// Something that goes wrong for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The server of the volume does not run.
    Kill(Whom),
    KillBoth,
    KillNats,
    /// A program is stopped, with everything that it has received.
    Pause(Whom),
    PauseNats,
    /// Packets between the host and the NATS server are lost, in one direction or both.
    Cut(Whom, Option<Direction>),
    /// Messages of the host to the other one are lost; both reach the NATS server.
    Part(Whom),
    /// Both hosts are parted from each other.
    PartBoth,
    Slow(Whom),
    /// The flash of the host fails; then its server is started again.
    Flash(Whom),
}

/// A step of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Begin(Fault),
    End(Fault),
    /// An operator moves the volume.
    HandOver,
    /// Waits for a resynchronisation to begin, but for a few seconds only.
    AwaitCopy,
}

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// `true` if a file is behind both copies.
    pub(super) is_backed: bool,
    /// Rate of slow links, in thousand bits a second.
    pub(super) kbit: u32,
    /// The rule of failing flash; see `testkit::fault_volume`.
    pub(super) flash_rule: &'static str,
    /// Failed flash is replaced by an empty one, if the other host has all data.
    pub(super) replaces_flash: bool,
    /// Milliseconds after the first, in order.
    pub(super) steps: Vec<(u64, Step)>,
}

impl Plan {
    pub(super) fn draw(seed: u64) -> Self {
        let prng = &mut Prng::new(Seed(seed).derive(48));
        let rules = ["any write error", "any flush error", "any write full", "any any delay=40ms"];
        let mut plan = Self {
            is_backed: prng.percent(50),
            kbit: [500, 2_000, 8_000][index(prng, 3)],
            flash_rule: rules[index(prng, rules.len())],
            replaces_flash: prng.percent(50),
            steps: Vec::new(),
        };
        let mut at = 0;
        while plan.steps.is_empty() || (at < BEGINS_WITHIN && prng.percent(60)) {
            let begin = at + prng.below(1_000);
            at = plan.episode(begin, prng) + 500 + prng.below(2_500);
        }
        plan.steps.sort_by_key(|(at, _)| *at);
        plan
    }

    /// A fault, perhaps while the volume moves, and perhaps a second one; when the last one ends.
    fn episode(&mut self, begin: u64, prng: &mut Prng) -> u64 {
        if prng.percent(40) {
            self.steps.push((begin, Step::HandOver));
        }
        let end = self.fault(begin + prng.below(800), prng);
        if prng.percent(40) {
            return end;
        }
        // During the first one, or while the copies are brought up to date after it.
        if prng.percent(40) {
            return self.fault(begin + prng.below(end - begin), prng).max(end);
        }
        let mut at = end + prng.below(1_500);
        if prng.percent(70) {
            at = end + 1;
            self.steps.push((end, Step::AwaitCopy));
        }
        self.fault(at, prng)
    }

    fn fault(&mut self, at: u64, prng: &mut Prng) -> u64 {
        let fault = drawn(prng);
        let most = if prng.percent(50) { 800 } else { 12_000 };
        let span = match fault {
            Fault::Pause(_) if prng.percent(50) && !self.has_long_pause() => LONG_PAUSE,
            Fault::Flash(_) => 100 + prng.below(2_000),
            _ => 50 + prng.below(most),
        };
        self.steps.push((at, Step::Begin(fault)));
        self.steps.push((at + span, Step::End(fault)));
        at + span
    }

    fn has_long_pause(&self) -> bool {
        self.steps.iter().any(|(at, _)| *at >= LONG_PAUSE)
    }

    /// In words, for the line of a run.
    pub(super) fn words(&self) -> String {
        let place = if self.is_backed { "device" } else { "flash" };
        let steps = self.steps.iter().filter_map(|(at, step)| match step {
            Step::Begin(fault) => Some(format!("{fault:?} at {at}")),
            Step::HandOver => Some(format!("HandOver at {at}")),
            Step::End(_) | Step::AwaitCopy => None,
        });
        let last = self.steps.last().map_or(0, |(at, _)| *at);
        format!("{place}: {}; last end at {last} ms", steps.collect::<Vec<_>>().join(", "))
    }
}

fn index(prng: &mut Prng, count: usize) -> usize {
    usize::try_from(prng.below(count as u64)).unwrap()
}

fn drawn(prng: &mut Prng) -> Fault {
    let whom = if prng.percent(70) { Whom::Owner } else { Whom::Peer };
    match prng.below(20) {
        0..3 => Fault::Kill(whom),
        3 => Fault::KillBoth,
        4..6 => Fault::KillNats,
        6..10 => Fault::Pause(whom),
        10 => Fault::PauseNats,
        11 => Fault::Cut(whom, None),
        12..14 => Fault::Cut(whom, Some(DIRECTIONS[index(prng, 2)])),
        14..16 => Fault::Part(whom),
        16 => Fault::PartBoth,
        17 => Fault::Slow(whom),
        _ => Fault::Flash(whom),
    }
}

#[test]
fn runs_are_bounded_and_all_faults_occur() {
    let mut kinds = std::collections::BTreeMap::<String, u32>::new();
    let mut long_pauses = 0;
    for seed in 0..200 {
        let plan = Plan::draw(seed);
        assert_eq!(plan, Plan::draw(seed));
        assert!(plan.steps.last().is_some_and(|(at, _)| *at < 90_000), "{seed}: {plan:?}");
        for (at, step) in &plan.steps {
            let Step::Begin(fault) = step else { continue };
            let name = format!("{fault:?}");
            *kinds.entry(name.split('(').next().unwrap_or_default().to_owned()).or_default() += 1;
            let ends =
                plan.steps.iter().filter(|(end, step)| end > at && *step == Step::End(*fault));
            assert!(ends.count() > 0, "{seed}: {fault:?} does not end");
            long_pauses += u32::from(plan.steps.contains(&(at + LONG_PAUSE, Step::End(*fault))));
        }
    }
    assert!(kinds.len() == 10 && kinds.values().all(|count| *count >= 8), "{kinds:?}");
    assert!(long_pauses >= 30, "{long_pauses}");
}
