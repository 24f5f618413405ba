//! Replication traffic, and whether the link between the sites can carry it (facts 5.14).

use plan::deployment::SiteModel;

use crate::decision::Decision;
use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Bits in flight below which the default TCP window suffices. Source: S-W76.
const USUAL_WINDOW_BITS: f64 = 65_536.0;

/// Windows are this many bytes times a power of two. Source: S-W76.
const WINDOW_BYTES: f64 = 65_535.0;

/// Commercially available link rates, in Mb/s.
pub(crate) const LINKS: [f64; 16] = [
    0.064, 0.128, 0.256, 0.512, 1.544, 2.048, 10.0, 34.0, 45.0, 100.0, 155.0, 622.0, 1000.0,
    2488.0, 10_000.0, 40_000.0,
];

/// Streams, rates and the link; nothing if everything is in one site.
pub(crate) fn network(work: &mut Work<'_>) {
    let Some(model) = work.deployment.site_model() else {
        return;
    };
    streams(work, model);
    let Some(shares) = work.deployment.replication.hourly_shares else {
        return;
    };
    rates(work, &shares);
    link(work, model);
}

/// Log streams between the sites, one for each copy on the other side.
fn streams(work: &mut Work<'_>, model: SiteModel) {
    let there = work.get(Key::CopiesSecondSite) + work.get(Key::CopiesSecondSiteLagged);
    let streams = match model {
        SiteModel::ActiveActive => {
            work.get(Key::DatabaseActiveDc1) * &there + work.get(Key::DatabaseActiveDc2) * there
        }
        _ => work.get(Key::DatabaseActiveDc1) * there,
    };
    work.put(Key::NetworkLogStreamsPerDag, streams);
}

fn rates(work: &mut Work<'_>, shares: &[f64; 24]) {
    let peak = shares.iter().copied().fold(0.0, f64::max);
    let peak = work.sheet.input(Key::ReplicationPeakHourShare, peak);
    let (log, index) = both(work, &peak);
    let log = work.put(Key::NetworkPeakLogMbpsPerDb, log);
    let index = work.put(Key::NetworkPeakIndexMbpsPerDb, index);
    let streams = work.get(Key::NetworkLogStreamsPerDag);
    let log = work.put(Key::NetworkPeakLogMbpsPerDag, log * &streams);
    let index = work.put(Key::NetworkPeakIndexMbpsPerDag, index * &streams);
    let total = work.put(Key::NetworkPeakTotalMbpsPerDag, log + index);
    let all = total * work.get(Key::ServerDags);
    work.put(Key::NetworkPeakEnvironmentMbps, all);
    let mean = busiest_mean_in_recovery_point(work, shares);
    let mean = work.sheet.input(Key::ReplicationBusiestMeanShare, mean);
    let (log, index) = both(work, &mean);
    let rate = work.put(Key::NetworkRpoMbpsPerDb, log + index);
    let per_group = work.put(Key::NetworkRpoMbpsPerDag, rate * streams);
    let all = per_group * work.get(Key::ServerDags);
    work.put(Key::NetworkEnvironmentMbps, all);
}

/// The largest mean hourly share over as many consecutive hours as the recovery point has, at least
/// one.
fn busiest_mean_in_recovery_point(work: &mut Work<'_>, shares: &[f64; 24]) -> f64 {
    let hours = recovery_hours(work).max(1);
    let right = busiest_mean(shares, hours);
    if hours != 4 {
        return right;
    }
    let workbook = busiest_mean(shares, 5);
    let key = Key::ReplicationBusiestMeanShare;
    work.note(Quirk::WindowOfFive, key, Some((workbook, right)));
    if work.deployment.is_compatible() { workbook } else { right }
}

/// Compressed log traffic and index traffic of a database in an hour with `share` of the day.
fn both(work: &mut Work<'_>, share: &Number) -> (Number, Number) {
    let raw = share * work.get(Key::LogAllLogsPerDayPerDb) * 8.0 / 3600.0;
    let saved = work.deployment.replication.compression;
    let saved = work.sheet.share(Key::ReplicationCompressionPercent, saved);
    let index = &raw * figure!(work, index_traffic_share);
    (raw * (1.0 - saved), index)
}

/// The recovery point in hours, rounded up, at most 24.
fn recovery_hours(work: &Work<'_>) -> usize {
    let site = work.deployment.second_site.as_ref();
    let hours = site.map_or(0, |site| site.recovery_point.0.div_ceil(3_600_000_000_000));
    usize::try_from(hours).map_or(24, |hours| hours.min(24))
}

/// The largest mean share of `hours` consecutive hours, also across midnight.
fn busiest_mean(shares: &[f64; 24], hours: usize) -> f64 {
    let means = (0..24).map(|start| {
        let window = (start..start + hours).map(|hour| shares[hour % 24]);
        window.sum::<f64>() / hours as f64
    });
    means.fold(0.0, f64::max)
}

/// The recommended links and, if the document gives one, its throughput with the TCP window it
/// needs and whether that suffices.
fn link(work: &mut Work<'_>, model: SiteModel) {
    recommend(work, Key::NetworkRecommendedLinkMbps, Key::NetworkEnvironmentMbps);
    recommend(work, Key::NetworkRecommendedLinkPeakMbps, Key::NetworkPeakEnvironmentMbps);
    let Some(rate) = work.deployment.replication.link_mbps else {
        return;
    };
    let rate = work.sheet.input(Key::ReplicationLinkMbps, rate);
    let latency = work.deployment.replication.link_latency.0 as f64 / 1e6;
    let latency = work.sheet.input(Key::ReplicationLinkLatencyMs, latency);
    let bits = &rate * 1000.0 * &latency;
    let bits = work.put(Key::NetworkBandwidthDelayBits, bits);
    let right = through(&rate, &latency, &bits, 8.0);
    let workbook = if window_counts(work, model) {
        through(&rate, &latency, &bits, 1.0)
    } else {
        rate.clone()
    };
    let key = Key::NetworkLinkThroughputMbps;
    let through = work.either(Quirk::LinkWindow, key, workbook, right);
    let through = work.put(key, through);
    for (key, needed) in [
        (Key::NetworkLinkOkRpo, Key::NetworkEnvironmentMbps),
        (Key::NetworkLinkOkPeak, Key::NetworkPeakEnvironmentMbps),
    ] {
        let enough = through.value() > work.value(needed);
        let because = format!("{} is more than {needed}", Key::NetworkLinkThroughputMbps);
        work.sheet.decide(key, Decision::Answer(enough), &because);
    }
}

/// The smallest usual link that carries more than is needed; none if no usual link does.
fn recommend(work: &mut Work<'_>, key: Key, needed: Key) {
    let needed = work.get(needed);
    let sold = LINKS.iter().copied().find(|rate| *rate > needed.value());
    if let Some(rate) = sold {
        let rate = Number::of_all("next_link_above", &[needed], rate);
        work.sheet.put(key, rate);
    }
}

/// Whether the workbook considers the TCP window: only if servers of the second site are on standby
/// or dedicated to lagged copies.
fn window_counts(work: &Work<'_>, model: SiteModel) -> bool {
    model != SiteModel::ActiveActive
        || work.sheet.find_or_0(Key::ServerPassiveDc2).value() > 0.0
        || work.sheet.find_or_0(Key::ServerLagged(ServerKind::Second)).value() > 0.0
}

/// Throughput of a link with the smallest window whose bytes, times `bits_per_unit`, are at least
/// the bits in flight.
fn through(rate: &Number, latency: &Number, bits: &Number, bits_per_unit: f64) -> Number {
    if bits.value() < USUAL_WINDOW_BITS {
        return rate.clone();
    }
    let mut window = WINDOW_BYTES;
    while window * bits_per_unit < bits.value() {
        window *= 2.0;
    }
    let window = Number::of_all("tcp_window_bytes", std::slice::from_ref(bits), window);
    (window * 8.0 / (latency * 1000.0)).min(rate)
}
