//! Judgement of a played deployment: a row for each host and stretch, which limits broke and by how
//! much, and when redundancy was restored.

use std::collections::BTreeSet;

use units::Nanos;

use crate::figures::{CopyFigures, LimitingPart, PieceKind, PlayedPiece, UsageShares};
use crate::{Duty, GroupOutcome, Happening, Occurrence, PlayedDeployment, Stretch};

/// Limits that users accept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Maximum mean latency of database reads, in milliseconds.
    pub reads_ms: f64,
    /// Maximum mean latency of log writes, in milliseconds.
    pub log_ms: f64,
    /// Minimum share of the demanded requests that must be served.
    pub reached: f64,
}

/// One host in one stretch, or in the part of it in which a drive is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    /// Number of the host.
    pub host: usize,
    /// Number of the stretch.
    pub stretch: usize,
    /// Its beginning and end.
    pub span: (Nanos, Nanos),
    /// Duration that was played.
    pub played: Nanos,
    /// Whether a drive of its arrays is missing.
    pub is_degraded: bool,
    /// Active copies.
    pub active: usize,
    /// Copies that replay, catch up or are being seeded.
    pub passive: usize,
    /// Figures after the load has settled, or of the whole row if it never did.
    pub settled: RowFigures,
    /// Whether limits apply to it: not while caches warm up after an event, if the host settles
    /// later.
    pub is_judged: bool,
    /// Start of the minute with the slowest reads, and their mean latency in milliseconds.
    pub worst: Option<(Nanos, f64)>,
    /// Utilisation of its arrays, the maximum of each part.
    pub usage: UsageShares,
    /// Its copies.
    pub copies: Vec<CopyRow>,
}

/// One copy in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyRow {
    /// Number of its database.
    pub database: usize,
    /// Its duty in the stretch.
    pub duty: Duty,
    /// Its figures.
    pub figures: RowFigures,
}

/// Figures of a host or a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowFigures {
    /// Mean latency of database reads in milliseconds; `None` without reads.
    pub reads_ms: Option<f64>,
    /// Mean latency of log writes in milliseconds; `None` without writes.
    pub log_ms: Option<f64>,
    /// Database reads and writes per second of active copies, without those of cold caches.
    pub iops: f64,
    /// Demanded reads and writes per second; `None` if the load is not held.
    pub demanded: Option<f64>,
    /// Reads and page writes per second of replay.
    pub replay_iops: f64,
    /// Length of the period that these figures cover, in seconds.
    pub seen_s: f64,
}

/// Standard errors by which a rate may fall short by chance.
const MOST_ERRORS: f64 = 3.0;

impl RowFigures {
    /// The lowest rate that counts as reaching the share `reached` of the demand: below it by what
    /// chance can lack in a count of as many requests. A minute at 13 IOPS holds 780 requests in
    /// batches, of which five in a hundred come a little later. `None` if the load is not held.
    pub fn least_iops(&self, reached: f64) -> Option<f64> {
        let least = self.demanded? * reached;
        let chance = if self.seen_s > 0.0 { (least / self.seen_s).sqrt() } else { 0.0 };
        Some((least - MOST_ERRORS * chance).max(0.0))
    }
}

/// When a deployment is redundant again after an occurrence.
#[derive(Clone, Debug, PartialEq)]
pub struct RecoveryFigures {
    /// Number of the occurrence.
    pub occurrence: usize,
    /// Maximum number of databases that were active nowhere.
    pub inactive: usize,
    /// Time until every copy was healthy and every drive whole; `None` if not within the
    /// simulation.
    pub redundant_after: Option<Nanos>,
}

/// A limit that is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// Number of the row.
    pub row: usize,
    /// The broken limit, as a sentence.
    pub text: String,
    /// By how much, as a share of the limit; 0.1 means 10 %.
    pub excess: f64,
    /// The limiting part.
    pub limit: LimitingPart,
}

/// The judgement of a played deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Every host in every stretch.
    pub rows: Vec<HostRow>,
    /// Broken limits, the worst first.
    pub breaches: Vec<Breach>,
    /// Recoveries, in the order of the occurrences.
    pub recoveries: Vec<RecoveryFigures>,
}

impl Judgement {
    /// The row with the worst minute.
    pub fn worst_row(&self) -> Option<&HostRow> {
        let minutes = self.rows.iter().filter_map(|row| Some((row, row.worst?.1)));
        minutes.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(row, _)| row)
    }
}

/// Judges the `outcomes` of all groups, each of which covers only its own hosts.
pub fn judge(
    deployment: &PlayedDeployment,
    (stretches, occurrences): (&[Stretch], &[Occurrence]),
    outcomes: &[GroupOutcome],
    limits: &Limits,
) -> Judgement {
    let mut rows = Vec::new();
    for outcome in outcomes {
        rows.extend(rows_of(deployment, stretches, outcome));
    }
    rows.sort_by_key(|row| (row.stretch, row.span.0, row.host));
    judge_long_unsettled(&mut rows);
    let mut breaches = Vec::new();
    for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.is_judged) {
        breaches.extend(broken(deployment, (number, row), limits));
    }
    breaches.sort_by(|one: &Breach, other| other.excess.total_cmp(&one.excess));
    let recoveries = (0..occurrences.len())
        .map(|number| recovery((number, &occurrences[number]), stretches, outcomes))
        .collect();
    Judgement { rows, breaches, recoveries }
}

/// Longest time in which caches that warm up excuse a host.
const LONGEST_WARM_UP: Nanos = Nanos::from_secs(2 * 3_600);

/// A host that warms up is judged once it has settled. One that settles no more is judged by its
/// last row, and one that needs long for it throughout, or a load that no cache holds would pass.
fn judge_long_unsettled(rows: &mut [HostRow]) {
    let mut seen = BTreeSet::new();
    for row in rows.iter_mut().rev() {
        let is_long = row.span.1.since(row.span.0) > LONGEST_WARM_UP;
        row.is_judged |= seen.insert(row.host) || is_long;
    }
}

/// The rows of one group: pieces of one stretch with the same missing drives are one row.
fn rows_of(
    deployment: &PlayedDeployment,
    stretches: &[Stretch],
    outcome: &GroupOutcome,
) -> Vec<HostRow> {
    let mut hosts: Vec<usize> = outcome.copies.iter().map(|&of| host_of(deployment, of)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let mut rows = Vec::new();
    for pieces in outcome.pieces.chunk_by(is_one_row) {
        for &host in &hosts {
            rows.push(row(deployment, (host, &stretches[pieces[0].stretch]), outcome, pieces));
        }
    }
    rows
}

fn is_one_row(one: &PlayedPiece, two: &PlayedPiece) -> bool {
    one.stretch == two.stretch && one.degraded.is_empty() == two.degraded.is_empty()
}

fn host_of(deployment: &PlayedDeployment, (database, copy): (usize, usize)) -> usize {
    deployment.databases[database].copies[copy].host
}

fn row(
    deployment: &PlayedDeployment,
    (host, stretch): (usize, &Stretch),
    outcome: &GroupOutcome,
    pieces: &[PlayedPiece],
) -> HostRow {
    let has_settled = pieces.iter().any(|piece| piece.kind == PieceKind::Steady);
    let settled: Vec<&PlayedPiece> =
        pieces.iter().filter(|piece| !has_settled || piece.kind == PieceKind::Steady).collect();
    let span = settled.iter().map(|piece| piece.played.as_secs_f64()).sum::<f64>();
    let mut copies = Vec::new();
    let mut all = (CopyFigures::default(), Some(0.0));
    for (at, &of) in outcome.copies.iter().enumerate() {
        if host_of(deployment, of) != host {
            continue;
        }
        let duty = stretch.duties[of.0][of.1];
        let mut figures = CopyFigures::default();
        for piece in &settled {
            figures.merge(&piece.copies[at]);
        }
        let demanded = match duty {
            Duty::Active => deployment.databases[of.0].iops,
            _ => Some(0.0),
        };
        all.0.merge(&figures);
        all.1 = all.1.zip(demanded).map(|(one, other)| one + other);
        copies.push(CopyRow {
            database: of.0,
            duty,
            figures: figures_of(&figures, span, demanded),
        });
    }
    let usage = pieces
        .iter()
        .flat_map(|piece| &piece.usage)
        .fold(UsageShares::default(), |most, of| most.max(*of));
    HostRow {
        host,
        stretch: pieces[0].stretch,
        span: (pieces[0].from, pieces[pieces.len() - 1].to),
        played: Nanos(pieces.iter().map(|piece| piece.played.0).sum()),
        is_degraded: !pieces[0].degraded.is_empty(),
        active: count(&copies, |duty| duty == Duty::Active),
        passive: count(&copies, |duty| !matches!(duty, Duty::Active | Duty::Idle)),
        settled: figures_of(&all.0, span, all.1),
        is_judged: has_settled,
        worst: stretch.up[host].then(|| worst_minute(deployment, host, outcome, pieces)).flatten(),
        usage,
        copies,
    }
}

fn count(copies: &[CopyRow], of: impl Fn(Duty) -> bool) -> usize {
    copies.iter().filter(|copy| of(copy.duty)).count()
}

fn figures_of(sums: &CopyFigures, span: f64, demanded: Option<f64>) -> RowFigures {
    RowFigures {
        reads_ms: sums.reads.mean_ms(),
        log_ms: sums.log_writes.mean_ms(),
        iops: per_second(sums.reads.count + sums.writes.count - sums.warming, span),
        demanded,
        replay_iops: per_second(sums.replay.count, span),
        seen_s: span,
    }
}

fn per_second(count: u64, span: f64) -> f64 {
    count as f64 / span.max(1e-9)
}

fn worst_minute(
    deployment: &PlayedDeployment,
    host: usize,
    outcome: &GroupOutcome,
    pieces: &[PlayedPiece],
) -> Option<(Nanos, f64)> {
    let minutes = pieces.iter().filter_map(|piece| {
        let mean = mean_read_ms(deployment, host, &outcome.copies, piece)?;
        Some((piece.from, mean))
    });
    minutes.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// Mean latency of the reads of a host's copies in one piece.
fn mean_read_ms(
    deployment: &PlayedDeployment,
    host: usize,
    copies: &[(usize, usize)],
    piece: &PlayedPiece,
) -> Option<f64> {
    let mut sums = CopyFigures::default();
    for (&of, copy) in copies.iter().zip(&piece.copies) {
        if host_of(deployment, of) == host {
            sums.merge(copy);
        }
    }
    sums.reads.mean_ms()
}

/// The limits that a row breaks.
fn broken(
    deployment: &PlayedDeployment,
    (number, row): (usize, &HostRow),
    limits: &Limits,
) -> Vec<Breach> {
    let name = &deployment.hosts[row.host].name;
    let limit = row.usage.limit();
    let RowFigures { reads_ms, log_ms, iops, demanded, .. } = row.settled;
    let mut found = Vec::new();
    for (what, mean, most) in
        [("database reads", reads_ms, limits.reads_ms), ("log writes", log_ms, limits.log_ms)]
    {
        if let Some(mean) = mean.filter(|mean| *mean > most) {
            let taken = above(mean, most);
            let text = format!("{what} of {name} take {taken} ms, limit {most:.0} ms");
            found.push((text, mean / most - 1.0));
        }
    }
    let least = row.settled.least_iops(limits.reached).filter(|least| iops < *least);
    if let (Some(demanded), Some(least)) = (demanded, least) {
        let text = too_little(name, (iops, demanded), least);
        found.push((text, demanded / iops.max(1e-3) - 1.0));
    }
    found.into_iter().map(|(text, excess)| Breach { row: number, text, excess, limit }).collect()
}

/// States that `name` serves less of its demand than the `least` that is enough, with enough digits
/// to see it.
fn too_little(name: &str, (iops, demanded): (f64, f64), least: f64) -> String {
    let [served, least] =
        [units::three_digits_beside(iops, least), units::limit_beside(iops, least)];
    format!("{name} reaches {served} of {demanded:.0} demanded IOPS, at least {least} are needed")
}

/// Writes a mean with enough decimals to show that it is above the limit `most`; three at most.
fn above(mean: f64, most: f64) -> String {
    let mut text = String::new();
    for decimals in 1..4 {
        text = format!("{mean:.decimals$}");
        if text.parse::<f64>().is_ok_and(|shown| shown > most) {
            break;
        }
    }
    text
}

/// The first moment after an occurrence at which everything is redundant again.
fn recovery(
    (number, occurrence): (usize, &Occurrence),
    stretches: &[Stretch],
    outcomes: &[GroupOutcome],
) -> RecoveryFigures {
    let later = stretches.iter().filter(|stretch| stretch.from >= occurrence.at);
    let copies = later.clone().find(|stretch| stretch.is_redundant()).map(|stretch| stretch.from);
    let is_rebuilt =
        later.clone().any(|of| of.begun.contains(&number) && !of.failed_drives.is_empty());
    let drives = match occurrence.what {
        Happening::DiskFailed { array } if is_rebuilt => {
            let all = outcomes.iter().flat_map(|outcome| &outcome.rebuilt);
            all.filter(|(of, at)| *of == array && *at > occurrence.at).map(|(_, at)| *at).min()
        }
        _ => Some(occurrence.at),
    };
    let back = copies.zip(drives).map(|(copies, drives)| copies.max(drives));
    RecoveryFigures {
        occurrence: number,
        inactive: later
            .take_while(|stretch| back.is_none_or(|back| stretch.from < back))
            .map(Stretch::inactive)
            .max()
            .unwrap_or(0),
        redundant_after: back.map(|back| back.since(occurrence.at)),
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{HostRow, RowFigures, UsageShares, above, judge_long_unsettled, too_little};

    /// A restart is excused while the caches warm up, if they do: the same restart passed or failed
    /// by the time that the host had been away.
    #[test]
    fn a_host_is_judged_once_it_has_settled_or_if_it_does_not() {
        let row = |(host, from, to): (usize, u64, u64), is_settled| HostRow {
            host,
            stretch: 0,
            span: (Nanos::from_secs(from * 60), Nanos::from_secs(to * 60)),
            played: Nanos::ZERO,
            is_degraded: false,
            active: 1,
            passive: 0,
            settled: RowFigures::default(),
            is_judged: is_settled,
            worst: None,
            usage: UsageShares::default(),
            copies: Vec::new(),
        };
        let mut rows = [
            row((0, 0, 60), true),
            row((0, 60, 90), false),
            row((1, 0, 240), false),
            row((0, 90, 240), true),
            row((1, 240, 300), true),
            row((2, 0, 30), false),
        ];
        judge_long_unsettled(&mut rows);
        // Warming for half an hour is excused, for four hours or to the end it is not.
        assert_eq!(rows.map(|of| of.is_judged), [true, false, true, true, true, true]);
    }

    /// 94.98 of 100 must not read like the 95 % that are enough.
    #[test]
    fn a_rate_below_its_share_is_never_rounded_to_it() {
        let said = too_little("EX01", (94.98, 100.0), 95.0);
        assert_eq!(said, "EX01 reaches 94.98 of 100 demanded IOPS, at least 95 are needed");
    }

    #[test]
    fn a_rate_may_fall_short_by_what_chance_lacks_in_the_time_seen() {
        let seen = |demanded, seen_s| {
            let figures = RowFigures { demanded: Some(demanded), seen_s, ..RowFigures::default() };
            figures.least_iops(0.95).map(|least| (least * 10.0).round() / 10.0)
        };
        assert_eq!(seen(12.8, 60.0), Some(10.8));
        assert_eq!(seen(12.8, 36_000.0), Some(12.1));
        assert_eq!(seen(10_000.0, 60.0), Some(9_462.3));
        assert_eq!((seen(1.0, 1.0), seen(100.0, 0.0)), (Some(0.0), Some(95.0)));
        assert_eq!(RowFigures::default().least_iops(0.95), None);
    }

    #[test]
    fn a_mean_above_its_limit_is_never_rounded_to_it() {
        for (mean, shown) in
            [(31.44, "31.4"), (20.06, "20.1"), (20.04, "20.04"), (20.004, "20.004")]
        {
            assert_eq!(above(mean, 20.0), shown);
        }
        assert_eq!(above(20.000_01, 20.0), "20.000");
    }
}
