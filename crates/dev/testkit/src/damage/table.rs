//! Injected faults, the findings, and the table of both.

use std::fmt;

use integrity::Damage;
use units::PageNumber;

/// Maximum number of examples of failures that are kept.
const MOST_EXAMPLES: usize = 20;

/// A kind of damage, which is also a row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) enum DamageKind {
    Flipped,
    Misdirected,
    Lost,
    Torn,
}

const NAMES: [&str; 4] = ["single-bit flip", "misdirected write", "lost write", "torn write"];

/// The judgement of one injection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    /// Whether every page concerned was reported as damaged.
    pub detected: bool,
    /// Whether each such page was classified correctly.
    pub named: bool,
    /// Whether the page number was correct and, for a flip, the bit.
    pub located: bool,
}

/// The row of one kind of damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of injections.
    pub injected: u64,
    /// How often every page concerned was reported as damaged.
    pub detected: u64,
    /// How often each such page was classified correctly.
    pub named: u64,
    /// How often page and bit were correct.
    pub located: u64,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DamageTable {
    /// Rows for flips, misdirected writes, lost writes and torn writes.
    pub rows: [Count; 4],
    /// Number of intact writes that were judged too.
    pub sound: u64,
    /// Sound pages that were reported as damaged.
    pub false_alarms: u64,
    /// Torn writes that caused no damage and were drawn again.
    pub torn_whole: u64,
    /// Torn writes that left the old page, so they count as lost.
    pub torn_lost: u64,
    /// Torn writes that left the new page except for single bits.
    pub torn_bits: u64,
    /// The first few failures.
    pub examples: Vec<String>,
}

impl Count {
    /// Damage that went unnoticed.
    pub(crate) const fn undetected(&self) -> u64 {
        self.injected - self.detected
    }

    /// Damage that was detected but given a wrong name or place.
    pub(crate) const fn misnamed(&self) -> u64 {
        let right = if self.named < self.located { self.named } else { self.located };
        self.detected - right
    }
}

impl DamageTable {
    /// `true` if all damage was found and named, and nothing sound was reported.
    pub fn is_clean(&self) -> bool {
        self.rows.iter().all(|row: &Count| row.undetected() + row.misnamed() == 0)
            && self.false_alarms == 0
    }

    pub(super) fn note(
        &mut self,
        kind: DamageKind,
        judgement: Judgement,
        what: impl Fn() -> String,
    ) {
        let row = &mut self.rows[kind as usize];
        row.injected += 1;
        row.detected += u64::from(judgement.detected);
        row.named += u64::from(judgement.detected && judgement.named);
        row.located += u64::from(judgement.detected && judgement.located);
        if !(judgement.detected && judgement.named && judgement.located) {
            self.example(format!("{}: {}", NAMES[kind as usize], what()));
        }
    }

    pub(super) fn false_alarm(&mut self, page: PageNumber, damage: &Damage) {
        self.false_alarms += 1;
        self.example(format!("sound page {page}: {damage}"));
    }

    fn example(&mut self, text: String) {
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(text);
        }
    }
}

impl fmt::Display for DamageTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["injected", "detected", "named", "located", "undetected", "misnamed"];
        write!(f, "{:<18}", "damage")?;
        heads.iter().try_for_each(|head| write!(f, "{head:>11}"))?;
        writeln!(f)?;
        for (name, row) in NAMES.iter().zip(&self.rows) {
            let (undetected, misnamed) = (row.undetected(), row.misnamed());
            write!(f, "{name:<18}{:>11}{:>11}", row.injected, row.detected)?;
            write!(f, "{:>11}{:>11}", row.named, row.located)?;
            writeln!(f, "{undetected:>11}{misnamed:>11}")?;
        }
        writeln!(f, "{} writes that went well: {} called damaged", self.sound, self.false_alarms)?;
        write!(
            f,
            "of the torn writes {} left the old page (named lost), {} the new one but for single \
             bits\n(named flipped bits); {} more left the new page whole and were drawn again",
            self.torn_lost, self.torn_bits, self.torn_whole
        )?;
        self.examples.iter().try_for_each(|example| write!(f, "\n  {example}"))
    }
}
