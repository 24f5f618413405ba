//! Tracks the unwritten parts of a fill's file: if the storage does not promise zeros, the fill
//! writes them.

use std::collections::BTreeMap;
use std::ops::Range;

/// Byte ranges not written yet, keyed by their start. A write is either within one of them or
/// rewrites earlier bytes.
pub(super) struct Gaps(BTreeMap<u64, u64>);

impl Gaps {
    /// One gap covering a whole file of `length` bytes.
    pub(super) fn of(length: u64) -> Self {
        Self([(0, length)].into_iter().filter(|gap| gap.1 > 0).collect())
    }

    /// Records a write to these bytes.
    pub(super) fn note(&mut self, written: Range<u64>) {
        let around = self.0.range(..=written.start).next_back().map(|(&begin, &end)| begin..end);
        let Some(gap) = around.filter(|gap| gap.contains(&written.start)) else {
            return;
        };
        self.0.remove(&gap.start);
        let left = [gap.start..written.start, written.end..gap.end];
        self.0.extend(left.into_iter().filter(|rest| !rest.is_empty()).map(|r| (r.start, r.end)));
    }

    /// The first gap, or its beginning if it is longer than `longest` bytes.
    pub(super) fn first(&self, longest: u64) -> Option<Range<u64>> {
        let (&begin, &end) = self.0.first_key_value()?;
        Some(begin..end.min(begin + longest))
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;

    #[test]
    fn what_is_left_is_what_was_not_written() {
        let mut gaps = Gaps::of(100);
        for written in [0..10, 40..50, 10..20, 90..100, 0..10, 20..30] {
            gaps.note(written);
        }
        let mut left = Vec::new();
        while let Some(gap) = gaps.first(25) {
            gaps.note(gap.clone());
            left.push((gap.start, gap.end));
        }
        assert_eq!(left, [(30, 40), (50, 75), (75, 90)]);
    }
}
