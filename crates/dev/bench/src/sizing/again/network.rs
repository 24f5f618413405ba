//! Traffic between the sites (facts 5.14).

use plan::deployment::SiteModel;

use super::Values;
use super::databases::Databases;
use super::given::GivenInputs;
use super::space::StoredSpace;

/// Rates for a database and for a group, if the load of each hour of the day is known.
pub(super) fn network(
    given: &GivenInputs<'_>,
    databases: &Databases,
    space: &StoredSpace,
    values: &mut Values,
) {
    let (Some(hours), Some(site)) =
        (given.deployment.replication.hourly_shares, &given.deployment.second_site)
    else {
        return;
    };
    let waits = site.model == SiteModel::ActivePassive;
    let [near, far] = databases.home;
    let others = if waits { 0.0 } else { given.p[1] * far };
    let late = if given.both { given.l[1] * far } else { 0.0 };
    let streams = given.p[1] * near + others + given.l[1] * near + late;
    values.put("net.log_streams_per_dag", streams);
    let compression = 1.0 - given.deployment.replication.compression;
    let peak = hours.into_iter().fold(0.0, f64::max);
    let raw = peak * space.logs_per_day * 8.0 / 3_600.0;
    let index = if given.deployment.product.name.ends_with("2013") { raw } else { 0.0 };
    values.put("net.peak_log_mbps_per_db", raw * compression);
    values.put("net.peak_index_mbps_per_db", index);
    values.put("net.peak_log_mbps_per_dag", raw * compression * streams);
    values.put("net.peak_index_mbps_per_dag", index * streams);
    values.put("net.peak_total_mbps_per_dag", (raw * compression + index) * streams);
    let hours_of = super::tiers::days(site.recovery_point) * 24.0;
    let mean = busiest_mean(&hours, hours_of);
    let of_rpo = (raw * compression + index) / peak * mean;
    values.put("net.rpo_mbps_per_db", of_rpo);
    values.put("net.rpo_mbps_per_dag", of_rpo * streams);
    let environment = of_rpo * streams * given.d;
    values.put("net.environment_mbps", environment);
    if let Some(rate) = given.deployment.replication.link_mbps {
        let latency = given.deployment.replication.link_latency.0 as f64 / 1e9;
        let apart = databases.waiting[1] > 0.0 || databases.late[1] > 0.0;
        let through = if apart { throughput(rate, latency) } else { rate };
        values.put("net.link_throughput_mbps", through);
        values.word("net.link_ok_rpo", if through > environment { "Yes" } else { "No" });
    }
}

/// Throughput of a link limited by the TCP window. Like the workbook, it compares the bits in
/// flight with the window in bytes.
fn throughput(mbps: f64, latency: f64) -> f64 {
    let bits = mbps * 1e6 * latency;
    if bits < 65_536.0 {
        return mbps;
    }
    let mut window = 65_535.0;
    while window < bits {
        window *= 2.0;
    }
    mbps.min(window * 8.0 / latency / 1e6)
}

/// The largest mean over `wanted` consecutive hours, around the clock. Like the workbook, it uses
/// one hour instead of none and five instead of four.
fn busiest_mean(hours: &[f64; 24], wanted: f64) -> f64 {
    let window = (1..=24_usize).find(|count| *count as f64 + 1e-9 >= wanted).unwrap_or(24);
    let window = if window == 4 { 5 } else { window };
    let means = (0..24).map(|from| {
        let sum: f64 = (from..from + window).map(|hour| hours[hour % 24]).sum();
        sum / window as f64
    });
    means.fold(0.0, f64::max)
}
