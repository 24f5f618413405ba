//! Result of a rule, with the number, the limit and the place that prove it.

/// Result of one rule for a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Machine-readable name, such as `read-latency-average`.
    pub rule: &'static str,
    /// Human-readable title, in a few words.
    pub title: &'static str,
    /// Consequence of this rule's failure for the whole run.
    pub kind: Kind,
    /// The rule's outcome.
    pub outcome: Ruling,
    /// The number that decided, in [`Finding::unit`]; `None` if no number did.
    pub measured: Option<f64>,
    /// The limit that decided: met by [`Finding::measured`] if the outcome is a pass, and missed in
    /// every other outcome, unless [`Finding::deciding_evidence`] decided.
    pub limit: Option<Limit>,
    /// Unit of both.
    pub unit: Unit,
    /// Place and time, worst first.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// Whether the number lies on the wrong side of its limit, whatever that proves.
    pub fn misses_limit(&self) -> bool {
        let numbers = self.measured.zip(self.limit);
        numbers.is_some_and(|(measured, limit)| !limit.admits(measured))
    }

    /// The evidence that decided instead of the number and the limit, such as the range of a
    /// simulated latency; `None` if the two numbers decided.
    pub fn deciding_evidence(&self) -> Option<&str> {
        self.evidence.iter().find(|of| of.decides).map(|of| of.text.as_str())
    }

    /// The number next to its limit, to follow the title; empty if there is none.
    pub fn numbers(&self) -> String {
        let Some((seen, limit)) = self.measured.zip(self.limit) else { return String::new() };
        let (unit, most) = (self.unit, limit.value());
        if unit == Unit::Requests {
            let [seen, most] = [seen, most].map(|count| units::decimal(count, 0));
            return format!(": {seen} requests measured, at least {most} needed");
        }
        let side = match limit {
            Limit::AtMost(_) => "limit",
            Limit::AtLeast(_) => "at least",
        };
        format!(" {}, {side} {}", unit.beside(seen, most), unit.limit_beside(seen, most))
    }

    /// The same finding, based on its evidence instead of a number and a limit.
    pub(crate) fn without_numbers(self) -> Self {
        Self { measured: None, limit: None, unit: Unit::None, ..self }
    }
}

/// Consequence of a rule's failure for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The storage was too slow or too weak.
    Load,
    /// The storage lost or changed data, or refused a request.
    Damage,
    /// The run is inconclusive.
    Validity,
    /// The record was altered, so nothing in it counts as evidence.
    Record,
}

/// Outcome of a rule, or of the verdict as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The limit was kept.
    Pass,
    /// The limit was met, but the reader must know something.
    Warn,
    /// The limit was not kept.
    Fail,
    /// The record does not show whether the limit was kept.
    CannotJudge,
}

impl Ruling {
    /// The corresponding exit status: 0 pass, 1 fail, 2 cannot judge.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Pass | Self::Warn => 0,
            Self::Fail => 1,
            Self::CannotJudge => 2,
        }
    }

    /// The outcome as reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "Pass",
            Self::Warn => "Warning",
            Self::Fail => "Fail",
            Self::CannotJudge => "Cannot judge",
        }
    }
}

/// Criterion for a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// It must not be higher.
    AtMost(f64),
    /// It must not be lower.
    AtLeast(f64),
}

impl Limit {
    /// Whether `measured` is within the limit.
    pub(crate) fn admits(self, measured: f64) -> bool {
        match self {
            Self::AtMost(limit) => measured <= limit,
            Self::AtLeast(limit) => measured >= limit,
        }
    }

    /// The number alone.
    pub const fn value(self) -> f64 {
        match self {
            Self::AtMost(limit) | Self::AtLeast(limit) => limit,
        }
    }
}

/// The unit of a finding's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Events per second.
    PerSecond,
    /// Database reads and writes per second.
    IoPerSecond,
    /// MiB per second.
    MebibytesPerSecond,
    /// Pages.
    Pages,
    /// A plain count.
    Count,
    /// Requests measured, out of those that a judgement requires.
    Requests,
    /// Percent.
    Percent,
    /// No number at all.
    None,
}

impl Unit {
    /// The unit symbol after a number; empty for plain counts.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::PerSecond => "/s",
            Self::IoPerSecond => "IOPS",
            Self::MebibytesPerSecond => "MiB/s",
            Self::Pages => "pages",
            Self::Requests => "requests",
            Self::Percent => "%",
            Self::Count | Self::None => "",
        }
    }

    /// A number with its unit, precise enough to show on which side of its limit it lies.
    pub fn beside(self, number: f64, limit: f64) -> String {
        self.after(&units::three_digits_beside(number, limit))
    }

    /// The limit with its unit, rounded so that it stays on its side of the number.
    pub fn limit_beside(self, number: f64, limit: f64) -> String {
        self.after(&units::limit_beside(number, limit))
    }

    /// A printed number with this unit.
    pub fn after(self, number: &str) -> String {
        let separator = if self == Self::PerSecond { "" } else { " " };
        format!("{number}{separator}{}", self.symbol()).trim_end().to_owned()
    }
}

/// One place or time that supports a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Index of the database, if it concerns one.
    pub database: Option<u32>,
    /// Start and end in nanoseconds since the start of the run, if it concerns a time.
    pub span_ns: Option<(u64, u64)>,
    /// Whether this decided the outcome, and not the finding's number and limit.
    pub decides: bool,
    /// The rest, human-readable; names neither the database nor the time.
    pub text: String,
}

impl Evidence {
    /// Evidence about the run as a whole.
    pub(crate) fn of_run(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Evidence about one database.
    pub(crate) fn of_database(database: u32, text: impl Into<String>) -> Self {
        Self { database: Some(database), ..Self::of_run(text) }
    }
}
