//! A claim of a design and how it was judged, in words.

use report::format::{duration, plural};
use verdict::Ruling;

/// Something that the design claims to survive.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Name, such as `one server fails`.
    pub name: String,
    /// The worst case, such as `EX03`.
    pub worst: String,
    /// Cases that were played.
    pub cases: usize,
    /// Whether it holds.
    pub state: ClaimState,
    /// Whether it holds by the sizing formulas.
    pub formulas_hold: bool,
    /// Whether a latency is so near its limit that the true one may be on the other side.
    pub is_narrow: bool,
    /// Mean latency of database reads on the busiest host, in milliseconds.
    pub reads_ms: Option<f64>,
    /// Mean latency of database reads on one host in the slowest minute, in milliseconds.
    pub worst_minute_ms: Option<f64>,
    /// Utilisation of its busiest disk, 0 to 1.
    pub disks_busy: f64,
    /// How far the worst limit is exceeded, as a share of it; `None` if all are kept.
    pub excess: Option<f64>,
    /// The limit that broke, or the remaining headroom, in a sentence.
    pub because: String,
    /// Why the sizing formulas disagree; `None` if they agree.
    pub disagreement: Option<String>,
    /// The smallest change that makes the claim hold, if it fails and such a change was found.
    pub remedy: Option<Remedy>,
    /// Time until everything is redundant again, in nanoseconds.
    pub redundant_after_ns: Option<u64>,
    /// The longest time that users were without service in any of the cases; `None` if every
    /// database had an active copy throughout.
    pub outage: Option<Outage>,
}

/// Databases that no copy served for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Databases without an active copy at the worst time.
    pub databases: usize,
    /// The longest time that one of them was without, in nanoseconds.
    pub longest_ns: u64,
    /// What the deployment allows, in nanoseconds; `None` if it does not say.
    pub allowed_ns: Option<u64>,
    /// The case that it belongs to, such as `if site 1 fails`.
    pub case: String,
    /// What ends it.
    pub ended_by: OutageEnd,
}

/// What gives databases an active copy again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageEnd {
    /// A lagged copy has replayed its log.
    Replay,
    /// An administrator activates the other site.
    Activation,
}

impl Outage {
    /// The case and what ends it, as a clause.
    pub(super) fn because(&self) -> String {
        let until = match self.ended_by {
            OutageEnd::Replay => "a lagged copy has replayed its log",
            OutageEnd::Activation => "an administrator activates the other site",
        };
        format!("{}, until {until}", self.case)
    }

    /// Whether it lasts longer than the deployment allows.
    pub fn exceeds(&self) -> bool {
        self.allowed_ns.is_some_and(|most| self.longest_ns > most)
    }

    /// How long users wait, why, and whether the deployment allows it.
    pub fn words(&self) -> String {
        let allowed = match self.allowed_ns.map(duration) {
            Some(most) if self.exceeds() => {
                format!("more than [availability] longest_outage allows, {most}")
            }
            Some(most) => format!("[availability] longest_outage allows {most}"),
            None => "the deployment does not say whether that is acceptable; [availability] \
                     longest_outage would"
                .to_owned(),
        };
        let databases = plural(self.databases as u64, "database");
        let has = if self.databases == 1 { "has" } else { "have" };
        let longest = duration(self.longest_ns);
        format!("{databases} {has} no active copy for {longest}, {}; {allowed}", self.because())
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClaimState {
    /// Every limit is kept, no database stays inactive, and no interruption is too long.
    Holds,
    /// A limit is broken, databases stay inactive, or an interruption is longer than the deployment
    /// allows.
    Fails,
    /// Already fails in the arithmetic.
    FailsOnPaper(PaperFailure),
}

/// Why the arithmetic rejects a claim that no simulation of disks can save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaperFailure {
    /// The processors are busier than 100 %; their load in percent.
    Processors(f64),
    /// Too few votes are left for a quorum.
    NoQuorum,
}

impl PaperFailure {
    /// The objection, as a clause.
    pub fn words(self) -> String {
        match self {
            Self::Processors(percent) => format!("processors are {percent:.0} % busy"),
            Self::NoQuorum => "no quorum is left".to_owned(),
        }
    }
}

/// A change that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// The edit of the document; `None` if no change tried helps.
    pub edit: Option<String>,
    /// Effect of the change, or the advice if no change helps, in a sentence.
    pub effect: String,
    /// Changes that were tried.
    pub tried: usize,
    /// Whether every claim then holds for certain; if not, some hold narrowly.
    pub is_certain: bool,
}

impl ClaimState {
    const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "FAILS",
            Self::FailsOnPaper(_) => "FAILS on paper",
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::FailsOnPaper(_) => "fails_on_paper",
        }
    }
}

impl Claim {
    /// The judgement; `CannotJudge` if the result is nearer to its limit than the error bound of
    /// the model.
    pub const fn ruling(&self) -> Ruling {
        match (self.state, self.is_narrow) {
            (ClaimState::FailsOnPaper(_), _) | (ClaimState::Fails, false) => Ruling::Fail,
            (_, true) => Ruling::CannotJudge,
            (ClaimState::Holds, false) => Ruling::Pass,
        }
    }

    /// The component that fails in the worst case; `None` in normal operation.
    pub(super) fn failure(&self) -> Option<&str> {
        Some(self.worst.as_str()).filter(|worst| *worst != "-")
    }

    /// The result in words: held or not, for certain or narrowly, with or without an interruption.
    pub(super) fn result(&self) -> String {
        let word = self.state.word();
        let result =
            if self.is_narrow { format!("inconclusive: {word} narrowly") } else { word.to_owned() };
        match &self.outage {
            Some(outage) => format!("{result}, {} without service", duration(outage.longest_ns)),
            None => result,
        }
    }

    /// The reason of the result; a time without service is part of it.
    pub(super) fn reason(&self) -> String {
        match &self.outage {
            Some(outage) => format!("{}; {}", self.because, outage.words()),
            None => self.because.clone(),
        }
    }
}
