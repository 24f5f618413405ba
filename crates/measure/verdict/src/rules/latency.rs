//! Shared parts of the four latency rules: the mean of each database over the whole measurement,
//! and the worst mean of each database in any one interval.

mod doubt;
mod hour;
mod waiting;

use record::{IntervalRow, Phase, RunRecord, Series, SeriesRow, Unanswered};
use units::{thousands, three_digits_beside};

use super::milliseconds;
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// A latency rule's parameters.
pub(super) struct LatencyRule {
    /// Its name for programs.
    pub rule: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The requests it judges.
    pub series: Series,
    /// The highest latency it admits, in nanoseconds.
    pub limit_ns: u64,
    /// Fewer requests of a database than this are inconclusive.
    pub minimum_count: u64,
}

/// Measurement of one database.
struct Measured {
    database: u32,
    /// Requests that were answered.
    count: u64,
    latency_ns: f64,
    span_ns: Option<(u64, u64)>,
    unanswered: Unanswered,
}

impl Measured {
    fn evidence(&self, text: String) -> Evidence {
        Evidence { database: Some(self.database), span_ns: self.span_ns, ..Evidence::of_run(text) }
    }
}

/// Minimum evidence for a judgement: requests of each database.
#[derive(Clone, Copy)]
enum Least {
    /// This many answered requests.
    Answered(u64),
    /// One request, answered or still in flight.
    One,
}

impl Least {
    const fn count(self) -> u64 {
        match self {
            Self::Answered(0) | Self::One => 1,
            Self::Answered(count) => count,
        }
    }

    /// Requests of `one` that count towards the minimum.
    const fn of(self, one: &Measured) -> u64 {
        match self {
            Self::Answered(_) => one.count,
            Self::One => one.count + one.unanswered.waiting,
        }
    }

    const fn is_reached(self, one: &Measured) -> bool {
        self.of(one) >= self.count()
    }
}

impl LatencyRule {
    /// Judges each database's mean over the whole measurement, or in its worst hour if the load
    /// followed the hours of a day: quiet hours must not make up for the busiest.
    pub(super) fn of_average(&self, run: &RunRecord) -> Finding {
        if !run.start.settings.hourly_percent.is_empty() {
            let databases = run.start.databases.iter();
            let measured = databases.map(|of| hour::worst(run, of.index, self.series));
            return self.finding(measured.collect(), Least::Answered(self.minimum_count));
        }
        let measured = run.start.databases.iter().map(|database| {
            let totals = run.totals_of(Phase::Measure, database.index);
            let total = totals.and_then(|totals| totals.series.get(&self.series));
            let latency = total.map(|total| &total.latency);
            let count = latency.map_or(0, record::Histogram::count);
            let mean_ns = latency.map_or(0.0, record::Histogram::mean_ns);
            let unanswered = total.map_or_else(Unanswered::default, |total| Unanswered {
                // Stalled requests are already in the mean, once they were answered.
                stalled_ns: 0,
                ..total.unanswered
            });
            Measured {
                database: database.index,
                count,
                latency_ns: unanswered.mean_ns((count, mean_ns), 0),
                span_ns: None,
                unanswered,
            }
        });
        let finding = self.finding(measured.collect(), Least::Answered(self.minimum_count));
        doubt::doubted(finding, run, self.limit(), |database| self.calm_mean_ns(run, database))
    }

    /// Judges each database's worst interval.
    pub(super) fn of_worst_interval(&self, run: &RunRecord) -> Finding {
        let databases = run.start.databases.iter();
        let measured = databases.map(|database| self.worst_interval(run, database.index, |_| true));
        let finding = self.finding(measured.collect(), Least::One);
        doubt::doubted(finding, run, self.limit(), |database| {
            self.worst_interval(run, database, doubt::is_calm).latency_ns
        })
    }

    /// Judges the 99th percentile of each database's requests over the whole measurement.
    /// Unanswered requests count as the slowest.
    pub(super) fn of_percentile(&self, run: &RunRecord) -> Finding {
        let measured = run.start.databases.iter().map(|database| {
            let totals = run.totals_of(Phase::Measure, database.index);
            let total = totals.and_then(|totals| totals.series.get(&self.series));
            let unanswered = total.map_or_else(Unanswered::default, |total| total.unanswered);
            let count = total.map_or(0, |total| total.latency.count());
            let latency_ns = total.map_or(0.0, |total| {
                waiting::p99_ns(&unanswered, count, |quantile| total.latency.quantile(quantile))
            });
            Measured { database: database.index, count, latency_ns, span_ns: None, unanswered }
        });
        let finding = self.finding(measured.collect(), Least::Answered(self.minimum_count));
        doubt::doubted(finding, run, self.limit(), |database| self.calm_p99_ns(run, database))
    }

    fn limit(&self) -> Limit {
        Limit::AtMost(milliseconds(self.limit_ns as f64))
    }

    fn worst_interval(
        &self,
        run: &RunRecord,
        database: u32,
        counts: impl Fn(&IntervalRow) -> bool,
    ) -> Measured {
        let mut worst = Measured {
            database,
            count: 0,
            latency_ns: 0.0,
            span_ns: None,
            unanswered: Unanswered::default(),
        };
        for row in run.intervals_of(Phase::Measure).filter(|row| !row.is_left_out && counts(row)) {
            let of_database = row.databases.iter().find(|of| of.index == database);
            let Some(part) = of_database.and_then(|of| of.series.get(&self.series)) else {
                continue;
            };
            let answered = (part.latency.count, part.latency.mean_ns);
            let mean_ns = part.unanswered.mean_ns(answered, row.span_ns());
            if Self::is_known(run, row, part) && mean_ns >= worst.latency_ns {
                worst.count = part.latency.count;
                worst.latency_ns = mean_ns;
                worst.span_ns = Some((row.from_ns, row.to_ns));
                worst.unanswered = part.unanswered;
            }
        }
        worst
    }

    /// Whether an interval has a mean: a stopped run ends with an interval of almost no length,
    /// whose requests were merely in flight.
    fn is_known(run: &RunRecord, row: &IntervalRow, part: &SeriesRow) -> bool {
        let is_long = row.span_ns().saturating_mul(10) >= run.start.settings.interval_ns;
        let is_stalled = part.unanswered.oldest_ns >= record::STALL_MINIMUM_NS;
        part.latency.count + part.unanswered.waiting > 0 && (is_long || is_stalled)
    }

    fn finding(&self, mut all: Vec<Measured>, least: Least) -> Finding {
        all.sort_by(|left, right| right.latency_ns.total_cmp(&left.latency_ns));
        let limit = self.limit();
        let (proven, mut unproven): (Vec<&Measured>, Vec<&Measured>) =
            all.iter().partition(|one| least.is_reached(one));
        let mut failing = proven.clone();
        failing.retain(|one| !limit.admits(milliseconds(one.latency_ns)));
        if !failing.is_empty() {
            return self.judged(Ruling::Fail, &failing);
        }
        if unproven.is_empty() && !proven.is_empty() {
            return self.judged(Ruling::Pass, &proven[..1]);
        }
        unproven.sort_by_key(|one| least.of(one));
        self.unproven(&unproven, least)
    }

    /// Compares the worst of `shown` with the limit.
    fn judged(&self, outcome: Ruling, shown: &[&Measured]) -> Finding {
        let evidence = shown.iter().map(|one| {
            let latency = milliseconds(one.latency_ns);
            let text = format!(
                "{} ms over {} {}{}",
                three_digits_beside(latency, self.limit().value()),
                thousands(one.count),
                self.what(),
                waiting::remark(&one.unanswered)
            );
            one.evidence(text)
        });
        Finding {
            rule: self.rule,
            title: self.title,
            kind: Kind::Load,
            outcome,
            measured: shown.first().map(|one| milliseconds(one.latency_ns)),
            limit: Some(self.limit()),
            unit: Unit::Milliseconds,
            evidence: evidence.collect(),
        }
    }

    /// Reports how few requests the databases of `shown` had, fewest first.
    fn unproven(&self, shown: &[&Measured], least: Least) -> Finding {
        let evidence = shown.iter().map(|one| {
            let text = format!("{} {}", thousands(least.of(one)), self.what());
            one.evidence(text)
        });
        Finding {
            rule: self.rule,
            title: self.title,
            kind: Kind::Load,
            outcome: Ruling::CannotJudge,
            measured: shown.first().map(|one| least.of(one) as f64),
            limit: Some(Limit::AtLeast(least.count() as f64)),
            unit: Unit::Requests,
            evidence: evidence.collect(),
        }
    }

    fn what(&self) -> String {
        self.series.name().to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{Phase, RunRecord, Series};

    use super::super::read_latency_maximum;

    /// The last interval of the measurement, cut off after two milliseconds with a read in flight
    /// for `oldest_ns`.
    fn cut_off(oldest_ns: u64) -> RunRecord {
        let mut run =
            Synthetic { warm_intervals: 1, measure_intervals: 8, ..Synthetic::default() }.run();
        let rows = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
        let last = rows.last().unwrap();
        last.to_ns = last.from_ns + 2_000_000;
        for database in &mut last.databases {
            let reads = database.series.get_mut(&Series::DatabaseRead).unwrap();
            (reads.latency.count, reads.latency.mean_ns) = (0, 0.0);
            reads.unanswered.waiting = 1;
            (reads.unanswered.mean_age_ns, reads.unanswered.oldest_ns) = (oldest_ns, oldest_ns);
        }
        run
    }

    fn worst_ms(run: &RunRecord) -> f64 {
        read_latency_maximum::judge(run).unwrap().measured.unwrap()
    }

    #[test]
    fn an_interval_of_almost_no_length_is_not_the_worst_unless_a_request_stalls() {
        let sound = worst_ms(&cut_off(0));
        assert!((worst_ms(&cut_off(900_000_000)) - sound).abs() < 1e-9);
        assert!(worst_ms(&cut_off(1_200_000_000)) > 1_000.0);
    }
}
