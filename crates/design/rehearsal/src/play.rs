//! Plays the stretches of a timeline on one group of hosts.
//!
//! A stretch is played until it has settled and a while longer. The rest of it passes in one step,
//! in which rebuilds and reseeds advance at the rate observed before. docs/deployments.md states
//! the limits of this.

use simdisk::MemorySettling;
use simdisk::operations::{ArrayUsage, OperationAnswer, OperationProfile, ScanShape};
use units::{Nanos, Seed};

use crate::figures::{CopyFigures, PieceKind, PlayedPiece, UsageShares};
use crate::stage::GroupStage;
use crate::{HostGroup, PlayedDeployment, ShapeError, Stretch};

/// Interval of state checks: the end of a rebuild is noticed at most this late.
const STEP: Nanos = Nanos::from_secs(1);

/// Length of a piece of the timeline, and of an interval of the journals.
const PIECE: Nanos = Nanos::from_secs(60);

/// Warm-up before the timeline starts, in which queues fill.
const WARM_UP: Nanos = Nanos::from_secs(30);

/// How a group is played.
#[derive(Clone, Copy, Debug)]
pub struct PlayOrder<'a> {
    /// The deployment.
    pub deployment: &'a PlayedDeployment,
    /// Profiles of replay, one for each profile of the deployment.
    pub replays: &'a [OperationProfile],
    /// Its timeline.
    pub stretches: &'a [Stretch],
    /// The background scan of each copy that runs, active or passive, if any.
    pub scan: Option<ScanShape>,
    /// Pause of a session after a batch, in percent of the batch's duration.
    pub rest_percent: u32,
    /// Time played at the start of each stretch, and whenever something ends within one.
    pub transition: Nanos,
    /// Time played after that, to represent the rest.
    pub steady: Nanos,
    /// Seed of addresses and platters.
    pub seed: Seed,
}

/// Result of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOutcome {
    /// Database and copy number of each copy, in the order of the figures.
    pub copies: Vec<(usize, usize)>,
    /// Numbers of its arrays.
    pub arrays: Vec<usize>,
    /// The pieces, in order.
    pub(crate) pieces: Vec<PlayedPiece>,
    /// Number of each array with a rebuilt drive, and the end of the rebuild.
    pub rebuilt: Vec<(usize, Nanos)>,
    /// Number of simulated events.
    pub events: u64,
}

/// Receives the requests of a group while it is played, e.g. for its hosts' journals.
pub trait PlayListener {
    /// Called when a request or batch of the group's copy number `copy` has completed.
    fn answered(&mut self, copy: usize, answer: &OperationAnswer, is_replay: bool);

    /// Called when a piece has ended; returns whether to continue.
    fn piece_ended(&mut self, span: PieceSpan) -> bool;
}

/// For callers that need only the outcome.
impl PlayListener for () {
    fn answered(&mut self, _: usize, _: &OperationAnswer, _: bool) {}

    fn piece_ended(&mut self, _: PieceSpan) -> bool {
        true
    }
}

/// Position and length of a played piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceSpan {
    /// Duration that was played.
    pub played: Nanos,
    /// Its end in the timeline.
    pub at: Nanos,
}

/// Plays `group` and reports the activity of its copies to `listener`.
pub fn play<L: PlayListener>(
    order: &PlayOrder<'_>,
    group: &HostGroup,
    listener: &mut L,
) -> Result<GroupOutcome, ShapeError> {
    // A group's load depends on its first host, not on how many groups there are.
    let seed = order.seed.derive(group.hosts.first().copied().unwrap_or(0) as u64);
    let details = (order.scan, order.rest_percent, seed);
    let stage = GroupStage::new(order.deployment, order.replays, group, details)?;
    let mut player = Player {
        order,
        stage,
        played: Nanos::ZERO,
        at: Nanos::ZERO,
        pieces: Vec::new(),
        rebuilt: Vec::new(),
        listener,
        is_continued: true,
    };
    for (number, stretch) in order.stretches.iter().enumerate() {
        player.stage.enter(stretch);
        if number == 0 {
            player.warm_up();
        }
        player.stretch(number, stretch);
    }
    let Player { stage, pieces, rebuilt, .. } = player;
    Ok(GroupOutcome {
        copies: stage.copies.iter().map(|copy| copy.of).collect(),
        arrays: stage.arrays.clone(),
        pieces,
        rebuilt,
        events: stage.run.events(),
    })
}

struct Player<'a, 'b, L> {
    order: &'b PlayOrder<'a>,
    stage: GroupStage<'a>,
    /// Time that was played.
    played: Nanos,
    /// Position in the timeline.
    at: Nanos,
    pieces: Vec<PlayedPiece>,
    rebuilt: Vec<(usize, Nanos)>,
    listener: &'b mut L,
    is_continued: bool,
}

/// Progress of rebuilds, seeds and cold caches.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RecoveryProgress {
    rebuilding: Vec<(usize, (u64, u64))>,
    seeded: Vec<u64>,
    /// Copies with cold caches, and the reads left until they are warm.
    cold: Vec<(usize, u64)>,
}

impl<L: PlayListener> Player<'_, '_, L> {
    /// Plays until the arrays' memory has settled, before the timeline.
    fn warm_up(&mut self) {
        let mut settling = MemorySettling::default();
        loop {
            self.played += STEP;
            self.stage.run.advance(self.played, &mut |_| ());
            let filled = self.stage.run.filled_memory();
            let is_settled = filled.is_none_or(|filled| settling.is_settled(self.played, filled));
            if is_settled && self.played >= WARM_UP {
                return;
            }
        }
    }

    fn stretch(&mut self, number: usize, stretch: &Stretch) {
        let (mut begun, mut steady) = (self.at, Nanos::ZERO);
        while self.at < stretch.to && self.is_continued {
            let before = self.progress();
            let is_new = self.at.since(begun) < self.order.transition;
            let is_steady = !is_new && before.cold.is_empty();
            let kind = if is_steady { PieceKind::Steady } else { PieceKind::Transition };
            let span = if is_new { self.order.transition } else { self.order.steady };
            let to = (self.at + span.min(PIECE)).min(stretch.to);
            let (from, played) = (self.at, self.piece((number, kind), to));
            if self.progress().rebuilding.len() < before.rebuilding.len() {
                (begun, steady) = (self.at, Nanos::ZERO);
            } else if !is_new {
                steady = if is_steady { steady + played } else { Nanos::ZERO };
                if steady >= self.order.steady || !self.stage.cold().is_empty() {
                    self.skip(&before, played, stretch.to);
                }
            }
            if let Some(piece) = self.pieces.last_mut() {
                (piece.from, piece.to) = (from, self.at);
            }
        }
    }

    fn progress(&self) -> RecoveryProgress {
        RecoveryProgress {
            rebuilding: self.stage.rebuilding(),
            seeded: self.stage.seeded(),
            cold: self.stage.cold(),
        }
    }

    /// Plays up to `to`, or until a rebuild ends; returns the duration played.
    fn piece(&mut self, (stretch, kind): (usize, PieceKind), to: Nanos) -> Nanos {
        let before = self.stage.run.usage();
        let begun = self.played;
        let count = self.stage.copies.len();
        let mut figures = vec![CopyFigures::default(); count];
        let rebuilding = self.stage.rebuilding();
        while self.at < to {
            let step = STEP.min(to.since(self.at));
            (self.at, self.played) = (self.at + step, self.played + step);
            self.stage.run.advance(self.played, &mut |answer| {
                let (copy, is_replay) = GroupStage::owner(answer.database);
                figures[copy].note(&answer, is_replay);
                self.listener.answered(copy, &answer, is_replay);
            });
            let now = self.stage.rebuilding();
            if now.len() < rebuilding.len() {
                let ended = rebuilding.iter().filter(|of| now.iter().all(|is| is.0 != of.0));
                self.rebuilt.extend(ended.map(|of| (self.stage.arrays[of.0], self.at)));
                break;
            }
        }
        let played = self.played.since(begun);
        self.pieces.push(PlayedPiece {
            stretch,
            from: self.at,
            to: self.at,
            played,
            kind,
            degraded: rebuilding.iter().map(|of| self.stage.arrays[of.0]).collect(),
            copies: figures,
            usage: usage(&before, &self.stage.run.usage(), played),
        });
        self.is_continued &= self.listener.piece_ended(PieceSpan { played, at: self.at });
        played
    }

    /// Skips in one step the rest of a stretch, or the time up to half a piece before a rebuild
    /// ends or a cache is warm.
    fn skip(&mut self, before: &RecoveryProgress, played: Nanos, end: Nanos) {
        let now = self.progress();
        let mut most = end.since(self.at).as_secs_f64();
        let seconds = played.as_secs_f64().max(1e-9);
        let mut rates = Vec::new();
        for ((array, (was, _)), (_, (is, whole))) in before.rebuilding.iter().zip(&now.rebuilding) {
            let rate = (is - was) as f64 / seconds;
            let left = (whole - is) as f64 / rate.max(1.0);
            most = most.min((left - PIECE.as_secs_f64() / 2.0).max(0.0));
            rates.push((*array, rate));
        }
        let warming = rates_of_warming(&before.cold, &now.cold, seconds);
        for (_, rate, left) in &warming {
            let seconds_left = *left as f64 / rate.max(1e-3);
            most = most.min((seconds_left - PIECE.as_secs_f64() / 2.0).max(0.0));
        }
        for (copy, rate, _) in warming {
            self.stage.skip_cold_reads(copy, whole(rate * most));
        }
        for (array, rate) in rates {
            self.stage.run.skip_rebuild(array, whole(rate * most));
        }
        let flows = self.stage.flows().into_iter();
        for (flow, (was, is)) in flows.zip(before.seeded.iter().zip(&now.seeded)) {
            let rate = is.saturating_sub(*was) as f64 / seconds;
            self.stage.run.skip_flow(flow, whole(rate * most));
        }
        self.at = (self.at + Nanos(whole(most * 1e9))).min(end);
    }
}

/// Copies whose caches are still cold, their reads per second, and the reads left.
fn rates_of_warming(
    before: &[(usize, u64)],
    now: &[(usize, u64)],
    seconds: f64,
) -> Vec<(usize, f64, u64)> {
    now.iter()
        .filter_map(|&(copy, left)| {
            let (_, was) = before.iter().find(|(of, _)| *of == copy)?;
            Some((copy, was.saturating_sub(left) as f64 / seconds, left))
        })
        .collect()
}

fn usage(before: &[ArrayUsage], after: &[ArrayUsage], span: Nanos) -> Vec<UsageShares> {
    before
        .iter()
        .zip(after)
        .map(|(before, after)| UsageShares::between(before, after, span))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes and times of a simulation are positive and fit"
)]
fn whole(of: f64) -> u64 {
    of as u64
}

#[cfg(test)]
mod tests;
