//! "Jetstress System Parameters": the settings that decide which results are comparable.

use record::{Phase, RunRecord, Settings};

use crate::document::{Block, Fact, Section};
use crate::{format, passes};

/// The settings after all defaults were applied.
pub(crate) fn section(run: &RunRecord) -> Section {
    let facts = [load(run), engine(run), log(run)].concat();
    Section {
        id: "system-parameters",
        title: "System Parameters",
        blocks: vec![Block::Facts(facts)],
    }
}

/// Jetstress's own list, in its order.
fn load(run: &RunRecord) -> Vec<Fact> {
    let settings = &run.start.settings;
    let mix = settings.mix;
    let found = run.tuned.map_or("", |_| ", found by tuning");
    let is_weighted = run.start.databases.iter().any(|facts| facts.weight.is_some());
    let each = if is_weighted { "per database of average weight" } else { "per database" };
    let threads = format!("{} ({each}{found})", run.sessions_per_database());
    let maintenance = if settings.background_maintenance { "yes" } else { "no" };
    let copies = settings.copies_per_database.to_string();
    let mut facts = vec![
        Fact::metric("Thread Count", "thread-count", threads),
        Fact::metric(
            "Minimum Database Cache",
            "cache-size",
            per_database(settings.cache_minimum_bytes),
        ),
        Fact::metric(
            "Maximum Database Cache",
            "cache-size",
            per_database(settings.cache_maximum_bytes),
        ),
        Fact::metric("Insert Operations", "operation-mix", percent(mix.insert_percent)),
        Fact::metric("Delete Operations", "operation-mix", percent(mix.delete_percent)),
        Fact::metric("Replace Operations", "operation-mix", percent(mix.replace_percent)),
        Fact::metric("Read Operations", "operation-mix", percent(mix.read_percent)),
        Fact::metric("Lazy Commits", "lazy-commits", percent(settings.lazy_commit_percent)),
        Fact::metric("Run Background Database Maintenance", "background-maintenance", maintenance),
        Fact::metric("Number of Copies per Database", "copies-per-database", copies),
    ];
    facts.extend(content(settings));
    facts
}

fn percent(value: u32) -> String {
    format!("{value} %")
}

fn per_database(bytes: u64) -> String {
    format!("{} (per database)", format::size(bytes))
}

/// Deviations from Jetstress's incompressible content and even access, if any.
fn content(settings: &Settings) -> Vec<Fact> {
    let theta = settings.zipf_theta;
    [
        ("Compressible Payload", "compressible-payload", above_zero(settings.compressible_percent)),
        ("Repeated Payload", "repeated-payload", above_zero(settings.repeated_percent)),
        ("Skew of Access", "skew-of-access", (theta > 0.0).then(|| format!("Zipf {theta}"))),
    ]
    .into_iter()
    .filter_map(|(title, key, value)| Some(Fact::metric(title, key, value?)))
    .collect()
}

fn above_zero(value: u32) -> Option<String> {
    (value > 0).then(|| percent(value))
}

/// A setting that Jetstress lacks: its log follows the volume's sectors.
fn log(run: &RunRecord) -> Vec<Fact> {
    [Phase::Measure, Phase::Warm]
        .map(|phase| run.sum_of(phase).gauges.log_segment_bytes)
        .into_iter()
        .find(|&bytes| bytes > 0)
        .map(|bytes| Fact::metric("Log Segment", "log-segment", format::size(bytes)))
        .into_iter()
        .collect()
}

/// Settings that Jetstress prints in its log only, or not at all.
fn engine(run: &RunRecord) -> Vec<Fact> {
    let settings = &run.start.settings;
    let flush = format!(
        "start {}, stop {}",
        format::size(settings.flush_start_bytes),
        format::size(settings.flush_stop_bytes)
    );
    let commits = settings.commits_per_batch.max(1).to_string();
    let preset = match settings.preset.as_str() {
        "" => "of an earlier release",
        preset => preset,
    };
    let checkpoint_depth = format::size(settings.checkpoint_depth_bytes);
    let page_size = format::size(u64::from(settings.page_size_bytes));
    let mut facts = vec![
        Fact::metric("Load", "load-preset", preset),
        Fact::metric("Commits per Batch", "commits-per-batch", commits),
        Fact::metric("Flush Thresholds", "flush-thresholds", flush),
        Fact::metric("Checkpoint Depth", "checkpoint-depth", checkpoint_depth),
        Fact::new("Page Size", page_size),
        Fact::new("Sampling Interval", format::duration(settings.interval_ns)),
        Fact::new("Planned Measurement", format::duration(settings.measure_ns)),
    ];
    facts.extend(day(settings).map(|day| Fact::new("Load Over the Day", day)));
    facts.extend(pace(run));
    facts
}

/// How the target varied over the hours of the day.
fn day(settings: &Settings) -> Option<String> {
    let hours = &settings.hourly_percent;
    let least = hours.iter().copied().reduce(f64::min)?;
    let most = hours.iter().copied().fold(0.0, f64::max);
    Some(format!(
        "{least:.0} to {most:.0} % of the target, by the hour; averages are those of the worst hour"
    ))
}

/// When the load kept to the target of the plan, if it has one.
fn pace(run: &RunRecord) -> Option<Fact> {
    let settings = &run.start.settings;
    let is_share = settings.throughput_percent.is_some_and(|percent| percent < 100.0);
    let (label, pace) = if !passes::is_of_load(run) {
        ("Pace of the Load", "as fast as the storage answered: this test holds no target")
    } else if settings.warm_up_held {
        ("Pace of the Warm-Up", "the target, from the first request")
    } else {
        let full = "as fast as the storage answered; the target from the measurement on";
        ("Pace of the Warm-Up", full)
    };
    (settings.target_iops.is_some() || is_share).then(|| Fact::new(label, pace))
}

#[cfg(test)]
mod tests {
    use record::{RunRecord, TestType};

    use crate::tests::passing;

    /// The words of the report about the pace, on one line.
    fn pace(run: &RunRecord) -> String {
        let text = crate::text(run, &verdict::judge(run));
        let pace = text.split("Pace of the ").nth(1).unwrap_or_default();
        pace.split_whitespace().take(9).collect::<Vec<&str>>().join(" ")
    }

    #[test]
    fn a_test_says_when_it_held_the_target_of_the_plan() {
        let mut run = passing();
        assert!(pace(&run).starts_with("Warm-Up the target, from the first request"));
        run.start.settings.warm_up_held = false;
        assert!(pace(&run).starts_with("Warm-Up as fast as the storage answered"));
        // Its load makes the logs; a backup has none.
        run.start.test = TestType::Recovery;
        assert!(pace(&run).starts_with("Load as fast as the storage answered: this"));
        run.start.test = TestType::Backup;
        assert_eq!(pace(&run), "");
        run.start.test = TestType::Recovery;
        run.start.settings.target_iops = None;
        assert_eq!(pace(&run), "");
    }
}
