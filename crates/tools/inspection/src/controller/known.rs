//! Everything that outputs report about one fact. No line overwrites another: a rule judges every
//! reported value, and the worst answer counts. Words that are not understood are kept too, and
//! then no rule passes.

use record::{StorageFinding, StorageRuling};

/// One fact, as reported by outputs: not at all, once, in contradiction, or in unknown words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFact<T> {
    told: Vec<T>,
    odd: Vec<String>,
}

impl<T> Default for KnownFact<T> {
    fn default() -> Self {
        Self { told: Vec::new(), odd: Vec::new() }
    }
}

impl<T: PartialEq> KnownFact<T> {
    /// Adds a value to those reported before.
    pub(super) fn learn(&mut self, value: T) {
        if !self.told.contains(&value) {
            self.told.push(value);
        }
    }

    /// Adds words, understood or not.
    pub(super) fn learn_words(&mut self, words: &str, value: Option<T>) {
        match value {
            Some(value) => self.learn(value),
            None if !self.odd.iter().any(|known| known == words) => {
                self.odd.push(words.to_owned());
            }
            None => {}
        }
    }

    /// Adds the values of another output on the same subject.
    pub(super) fn merge(&mut self, other: Self) {
        other.told.into_iter().for_each(|value| self.learn(value));
        other.odd.iter().for_each(|words| self.learn_words(words, None));
    }

    /// Whether both were reported and differ.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        !self.told.is_empty() && !other.told.is_empty() && self.told != other.told
    }
}

impl<T> KnownFact<T> {
    /// The value, if exactly one was reported and every word was understood.
    pub fn only(&self) -> Option<&T> {
        match (&self.told[..], &self.odd[..]) {
            ([value], []) => Some(value),
            _ => None,
        }
    }

    /// Whether any line reported it.
    pub(super) fn is_told(&self) -> bool {
        !(self.told.is_empty() && self.odd.is_empty())
    }

    /// Every reported value.
    pub(super) fn told(&self) -> &[T] {
        &self.told
    }

    /// The values that a rule must judge; `None` is among them if the fact is missing or has words
    /// that are not understood.
    pub(super) fn cases(&self) -> Vec<Option<&T>> {
        let told = self.told.iter().map(Some);
        let without = self.told.is_empty() || !self.odd.is_empty();
        told.chain(without.then_some(None)).collect()
    }

    /// Why no rule may pass on this fact although the output mentions it.
    pub(super) fn doubt(&self) -> Option<String> {
        if let [words, ..] = &self.odd[..] {
            return Some(format!("\"{words}\" is not understood"));
        }
        (self.told.len() > 1).then(|| "the output contradicts itself".to_owned())
    }

    /// The worst ruling on any value. Contradictory values and unknown words cannot pass.
    pub(super) fn judge(&self, rule: impl Fn(Option<&T>) -> StorageFinding) -> StorageFinding {
        let first = rule(self.told.first());
        let others = self.cases().into_iter().skip(1).map(rule);
        let worst = others.fold(
            first,
            |worst, other| {
                if other.outcome > worst.outcome { other } else { worst }
            },
        );
        doubted(worst, self.doubt())
    }
}

/// The finding of a rule; at best "cannot judge" if its facts are in doubt.
pub(super) fn doubted(found: StorageFinding, doubt: Option<String>) -> StorageFinding {
    match doubt {
        Some(why) if found.outcome <= StorageRuling::CannotJudge => StorageFinding {
            outcome: StorageRuling::CannotJudge,
            seen: why,
            reason: "nothing follows from words that are unknown or contradict each other"
                .to_owned(),
            ..found
        },
        _ => found,
    }
}

#[cfg(test)]
mod tests;
