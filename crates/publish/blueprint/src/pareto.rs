//! Designs that no other design beats: cheaper, for more mailboxes, with more latency to spare or
//! with more failures survived, and worse in none of these.

use std::borrow::Cow;

use report::document::{Block, Cell, Column, Section, Table, TableRow};
use report::format::number;
use units::three_digits;

/// Maximum number of designs on the page; files list all.
const MOST_LISTED: usize = 40;

/// The figures by which a design is compared; `None` is unknown and counts as worst.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParetoPoint {
    /// Its name.
    pub name: String,
    /// Its rank among all designs, from 1.
    pub rank: usize,
    /// Whether it meets all limits; designs that do not are beaten by definition.
    pub holds: bool,
    /// Cost: a price, or a number of disks. Less is better.
    pub cost: Option<f64>,
    /// Mailboxes, or IOPS that it carries. More is better.
    pub load: Option<f64>,
    /// Distance of the worst latency from its limit, in percent of the limit. More is better.
    pub margin_percent: Option<f64>,
    /// Failures that it survives. More is better.
    pub survived: Option<f64>,
    /// Simulated latencies, in milliseconds or as shares of their limits. Less is better.
    pub latencies: Vec<f64>,
}

/// Headings of a table of Pareto-optimal designs, and the kind of evidence that its caption states.
#[derive(Clone, Debug)]
pub(crate) struct ParetoHeadings {
    /// Heading of the cost.
    pub cost: Cow<'static, str>,
    /// Heading of the load.
    pub load: &'static str,
    /// Whether the designs were simulated; otherwise they only keep the rules.
    pub is_simulated: bool,
}

impl ParetoHeadings {
    const fn caption(&self) -> &'static str {
        if self.is_simulated {
            "Designs that hold and that no other design beats in disks, load, latency to spare and \
             failed disks survived; the fewest disks first"
        } else {
            "Designs that are workable by the rules, not simulated, and that no other design beats \
             in cost, load and kinds of failure survived; the cheapest first"
        }
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::numbers("Rank"), Column::text("Design")];
        columns.extend([Column::numbers(self.cost.clone()), Column::numbers(self.load)]);
        columns.extend(self.is_simulated.then(|| Column::numbers("Latency To Spare, %")));
        columns.push(Column::numbers(if self.is_simulated {
            "Failed Disks Survived"
        } else {
            "Kinds Of Failure Survived"
        }));
        columns
    }

    fn row(&self, point: &ParetoPoint) -> TableRow {
        let mut cells = vec![
            Cell::plain(point.rank.to_string()),
            Cell::plain(point.name.clone()),
            Cell::or_none(point.cost.map(three_digits)),
            Cell::or_none(point.load.map(three_digits)),
        ];
        let margin = point.margin_percent.map(|margin| number(margin, 0));
        cells.extend(self.is_simulated.then(|| Cell::or_none(margin)));
        cells.push(Cell::or_none(point.survived.map(|count| number(count, 0))));
        TableRow::body(cells)
    }
}

impl ParetoPoint {
    /// The compared figures, signed so that more is better.
    fn merits(&self) -> [f64; 4] {
        let cost = self.cost.map(|cost| -cost);
        [cost, self.load, self.margin_percent, self.survived]
            .map(|of| of.unwrap_or(f64::NEG_INFINITY))
    }

    /// Whether it is at least as good in everything and better in something.
    fn beats(&self, other: &Self) -> bool {
        let pairs = self.merits().into_iter().zip(other.merits());
        let (mut is_as_good, mut is_better) = (true, false);
        for (own, others) in pairs {
            is_as_good &= own >= others;
            is_better |= own > others;
        }
        is_as_good && is_better
    }
}

impl ParetoPoint {
    /// Whether it is better in something and no worse in anything, where latencies that differ by
    /// no more than the model's error, in percent, are alike.
    fn clearly_beats(&self, other: &Self, error_percent: f64) -> bool {
        let factor = 1.0 + error_percent / 100.0;
        let pairs: Vec<_> = self.latencies.iter().zip(&other.latencies).collect();
        let [own, others] = [self, other].map(|of| {
            let [cost, load, _, survived] = of.merits();
            [cost, load, survived]
        });
        let is_as_good = own.iter().zip(&others).all(|(own, other)| own >= other)
            && pairs.iter().all(|(own, other)| **own <= *other * factor);
        let is_better = own.iter().zip(&others).any(|(own, other)| own > other)
            || pairs.iter().any(|(own, other)| *own * factor < **other);
        is_as_good && is_better
    }
}

/// The rank of each of `points`, the best first: 0 if no other beats it, not even where latencies
/// within the model's error count as alike; 1 if another does only then; 2 if another beats it, or
/// it does not hold.
pub(crate) fn standings(points: &[ParetoPoint], error_percent: f64) -> Vec<u8> {
    pareto_front(points)
        .into_iter()
        .zip(points)
        .map(
            |(is_best, point)| {
                if is_best { u8::from(is_clearly_beaten(point, points, error_percent)) } else { 2 }
            },
        )
        .collect()
}

fn is_clearly_beaten(point: &ParetoPoint, points: &[ParetoPoint], error_percent: f64) -> bool {
    points.iter().any(|other| other.holds && other.clearly_beats(point, error_percent))
}

/// For each of `points`, in order: whether it holds and no other beats it.
pub(crate) fn pareto_front(points: &[ParetoPoint]) -> Vec<bool> {
    let is_beaten =
        |point: &ParetoPoint| points.iter().any(|other| other.holds && other.beats(point));
    points.iter().map(|point| point.holds && !is_beaten(point)).collect()
}

/// The table of Pareto-optimal designs; `None` if no design holds.
pub(crate) fn section(points: &[ParetoPoint], headings: &ParetoHeadings) -> Option<Section> {
    let front = pareto_front(points);
    let mut best: Vec<&ParetoPoint> =
        points.iter().zip(front).filter(|(_, is_best)| *is_best).map(|(point, _)| point).collect();
    if best.is_empty() {
        return None;
    }
    best.sort_by(|one, two| two.merits()[0].total_cmp(&one.merits()[0]));
    let rows = best.iter().take(MOST_LISTED).map(|point| headings.row(point)).collect();
    let table = Table { caption: headings.caption(), columns: headings.columns(), rows };
    Some(Section { id: "pareto", title: "Best Trade-Offs", blocks: vec![Block::Table(table)] })
}

#[cfg(test)]
mod tests {
    use report::document::Block;

    use super::{ParetoHeadings, ParetoPoint, pareto_front, standings};

    fn point(cost: f64, load: f64, margin: Option<f64>, holds: bool) -> ParetoPoint {
        ParetoPoint {
            holds,
            cost: Some(cost),
            load: Some(load),
            margin_percent: margin,
            ..ParetoPoint::default()
        }
    }

    #[test]
    fn designs_that_another_beats_or_that_fail_are_not_on_the_front() {
        let points = [
            point(10.0, 100.0, Some(20.0), true),
            // Dearer and no better.
            point(12.0, 100.0, Some(20.0), true),
            // More expensive, with more to spare.
            point(12.0, 100.0, Some(50.0), true),
            // The cheapest fails, so it beats nothing.
            point(1.0, 500.0, Some(90.0), false),
            // As cheap as the first, but its latency is unknown.
            point(10.0, 100.0, None, true),
            // Cheaper, for fewer.
            point(5.0, 50.0, Some(20.0), true),
        ];
        assert_eq!(pareto_front(&points), [true, false, true, false, false, true]);
    }

    #[test]
    fn alike_designs_are_all_on_the_front_and_without_any_there_is_none() {
        let alike = [point(1.0, 1.0, None, true), point(1.0, 1.0, None, true)];
        assert_eq!(pareto_front(&alike), [true, true]);
        let shown = headings(true);
        assert!(super::section(&[point(1.0, 1.0, None, false)], &shown).is_none());
        let section = super::section(&alike, &shown).unwrap();
        assert_eq!(section.blocks.len(), 1);
    }

    /// Reads that differ by 4 % are alike, log writes that differ by a factor of 70 are not.
    #[test]
    fn what_is_better_by_less_than_the_error_of_the_model_alone_does_not_stand_first() {
        let with = |margin, latencies: [f64; 2]| ParetoPoint {
            latencies: latencies.to_vec(),
            ..point(64.0, 1_100.0, Some(margin), true)
        };
        let fails = ParetoPoint { holds: false, ..with(90.0, [1.0, 0.1]) };
        let points = [with(77.0, [4.68, 6.83]), with(76.0, [4.88, 0.1]), fails];
        assert_eq!(pareto_front(&points), [true, false, false]);
        assert_eq!(standings(&points, 25.0), [1, 2, 2]);
        let points = [with(77.0, [4.68, 6.83]), with(78.0, [4.88, 0.1])];
        assert_eq!(standings(&points, 25.0), [2, 0]);
        // With no error of the model every difference counts.
        let points = [with(77.0, [4.68, 6.83]), with(77.0, [4.88, 0.1])];
        assert_eq!((standings(&points, 0.0), standings(&points, 25.0)), (vec![0, 0], vec![1, 0]));
    }

    fn headings(is_simulated: bool) -> ParetoHeadings {
        ParetoHeadings { cost: "Cost".into(), load: "Load", is_simulated }
    }

    #[test]
    fn designs_that_were_only_sized_have_no_latency_and_do_not_claim_to_hold() {
        let table = |is_simulated| {
            let alike = [point(1.0, 1.0, None, true)];
            let section = super::section(&alike, &headings(is_simulated)).unwrap();
            let Some(Block::Table(table)) = section.blocks.into_iter().next() else {
                panic!("a table");
            };
            assert_eq!(table.rows[0].cells.len(), table.columns.len());
            let labels: Vec<_> = table.columns.into_iter().map(|column| column.label).collect();
            (table.caption, labels.join(" "))
        };
        let (caption, labels) = table(false);
        assert!(caption.contains("by the rules, not simulated"), "{caption}");
        assert!(!labels.contains("Latency"), "{labels}");
        let (caption, labels) = table(true);
        assert!(caption.starts_with("Designs that hold") && labels.contains("Latency"), "{labels}");
    }
}
