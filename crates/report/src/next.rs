//! What to do after a run: each step is a command or a number, for the test as it was started.

use record::{Phase, RunRecord};
use units::Bytes;
use verdict::{Finding, Ruling, Verdict};

use crate::{meaning, passes};

/// Databases smaller than this many times their cache are served from it too much to tell how
/// the storage does on a real mail server: interior pages and much of the leaves stay cached.
const SMALL_DATABASE_CACHES: u64 = 20;

/// What records of earlier releases were started with, as far as is known.
const SOME_PLAN: &str = "plimsoll run PLAN";

/// What an imported result is good for.
const BESIDE_A_RUN: &str = "plimsoll compare this result and a run of your own";

/// The steps, the most important one first.
pub(crate) fn steps(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    if run.imported().is_some() {
        return vec![BESIDE_A_RUN.to_owned()];
    }
    if run.simulated().is_some() {
        return vec![match verdict.outcome {
            Ruling::Fail => another_array(run),
            Ruling::Pass | Ruling::Warn | Ruling::CannotJudge => measure_it(run),
        }];
    }
    match verdict.outcome {
        Ruling::Pass | Ruling::Warn => vec![passed(run)],
        Ruling::Fail => failed(run, verdict),
        Ruling::CannotJudge => {
            let mut steps: Vec<String> = Vec::new();
            for finding in meaning::decisive(verdict) {
                let step = not_judged(run, finding);
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
            steps
        }
    }
}

/// What proves a prediction, or refutes it.
fn measure_it(run: &RunRecord) -> String {
    let words = command(run).split_whitespace().nth(2);
    let plan = words.filter(|_| command(run).starts_with("plimsoll simulate "));
    let plan = plan.unwrap_or("PLAN");
    format!(
        "Measure the storage once it is there: plimsoll prepare {plan}, plimsoll run {plan}; then \
         plimsoll compare both"
    )
}

/// Where the model did not carry the load, nothing is worth buying yet.
fn another_array(run: &RunRecord) -> String {
    format!(
        "See what would carry it before you buy: {}, with keys of the array such as \
         raid.disks=8,12,16",
        again(run, &[("--what-if", "KEY=VALUE,VALUE".to_owned())])
    )
}

/// What started the test, without its options.
fn command(run: &RunRecord) -> &str {
    match run.start.command.as_str() {
        "" => SOME_PLAN,
        command => command,
    }
}

/// Options that say how much load there is: of them, only the one that is changed counts.
const LOAD: [&str; 2] = ["--threads", "--target-iops"];

/// The command that starts the test again with `changes` to its options.
fn again(run: &RunRecord, changes: &[(&str, String)]) -> String {
    let mut words = vec![command(run).to_owned()];
    for (option, value) in &run.start.options {
        if !changes.iter().any(|(changed, _)| replaces(changed, option)) {
            words.push(format!("{option} {value}"));
        }
    }
    words.extend(changes.iter().map(|(option, value)| format!("{option} {value}")));
    words.join(" ")
}

fn replaces(changed: &str, option: &str) -> bool {
    changed == option || LOAD.contains(&changed) && LOAD.contains(&option)
}

/// Whether a plan stands behind the test that a person can edit.
fn has_plan(run: &RunRecord) -> bool {
    command(run).starts_with("plimsoll run ")
}

fn passed(run: &RunRecord) -> String {
    if !passes::is_of_load(run) {
        let load = again(run, &[("--test", "performance".to_owned())]);
        return format!("Measure the load of a working day: {load}");
    }
    let enough = large_enough(run);
    match (is_small(run), has_plan(run)) {
        (true, true) => format!(
            "These databases are small: much of them fits into the caches of disks and arrays. Set \
             `size` in the plan to what you will run, {enough} or more, in new folders; then {} \
             and {}",
            command(run).replacen("run", "prepare", 1),
            again(run, &[])
        ),
        (true, false) => format!(
            "These databases are small: much of them fits into the caches of disks and arrays. Set \
             `size` to what you will run, {enough} or more: plimsoll plan > plan.toml, plimsoll \
             prepare plan.toml, plimsoll run plan.toml"
        ),
        (false, true) => {
            let changes = [("--test", "stress".to_owned()), ("--duration", "24h".to_owned())];
            format!("Run it for a day: {}", again(run, &changes))
        }
        (false, false) => {
            let changes = [("--duration", "2h".to_owned())];
            format!("Run it for two hours: {}", again(run, &changes))
        }
    }
}

/// The size from which on a database is no small one.
fn large_enough(run: &RunRecord) -> Bytes {
    Bytes(run.start.settings.cache_maximum_bytes * SMALL_DATABASE_CACHES)
}

/// Whether caches serve too much of a database to tell how the storage does with a real one.
pub(crate) fn is_small(run: &RunRecord) -> bool {
    let mut databases = run.start.databases.iter();
    databases.any(|facts| facts.initial_bytes < large_enough(run).0)
}

fn failed(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    if fails(verdict, "checksums") || fails(verdict, "input-output-errors") {
        return vec![
            "Do not put data on this storage before the cause of the errors is found: look into \
             the system log and the controller's log for the times above."
                .to_owned(),
        ];
    }
    let mut steps = Vec::new();
    if fails(verdict, "log-write-latency-average") {
        steps.push(
            "Slow log writes mean that no write cache acknowledges them: check that the \
             controller's cache is on and its battery good."
                .to_owned(),
        );
    }
    if meaning::is_held_back_by_copies(verdict) {
        steps.push(format!(
            "Name faster folders in `backup_folders`, or none to measure the databases alone: {}",
            again(run, &[])
        ));
        return steps;
    }
    if !passes::is_of_load(run) {
        steps.push(format!(
            "Find out what holds the requests up, then measure again: {}",
            again(run, &[])
        ));
        return steps;
    }
    steps.push(format!("Find the load that it does carry: {}", again(run, &[less_load(run)])));
    steps
}

fn fails(verdict: &Verdict, rule: &str) -> bool {
    let mut findings = verdict.findings.iter();
    findings.any(|finding| finding.outcome == Ruling::Fail && finding.rule == rule)
}

/// The option that halves the load.
fn less_load(run: &RunRecord) -> (&'static str, String) {
    match run.sessions_per_database() / 2 {
        0 => {
            let half = run.achieved_transactional_iops() / 2.0;
            ("--target-iops", format!("{:.0}", half.max(1.0)))
        }
        threads => ("--threads", threads.to_string()),
    }
}

/// How to come to a verdict in spite of `finding`.
fn not_judged(run: &RunRecord, finding: &Finding) -> String {
    let same = again(run, &[]);
    match finding.rule {
        "record-intact" => format!("Report the original journal, or measure again: {same}"),
        "measured-time" if is_planned_short(run) => {
            let least = finding.limit.map_or(0.0, verdict::Limit::value);
            let longer = again(run, &[("--duration", format!("{least:.0}s"))]);
            format!("Measure for as long as a verdict takes: {longer}")
        }
        rule if rule.contains("-latency-") && has_too_few(finding) && is_measured_whole(run) => {
            let longer = again(run, &[("--duration", twice_as_long(run))]);
            format!("Measure for longer, so that more requests are seen: {longer}")
        }
        "volume-full" => shorter(run),
        "connection-lost" => format!(
            "See that the server runs and can be reached; what is on it may have changed, so \
             check the databases before they are used again. Then: {same}"
        ),
        "caches" => {
            let folder = run.start.databases.first();
            let mount = folder.map_or("DIR", |facts| facts.volume.mount.as_str());
            format!(
                "See what is known of the volume, plimsoll inspect {mount}; mount it without the \
                 cache, or measure another"
            )
        }
        "completed" if is_for_room(run) => shorter(run),
        "completed" if is_overdue(run) => {
            let folder = run.start.databases.first();
            let mount = folder.map_or("DIR", |facts| facts.volume.mount.as_str());
            format!("See what keeps the volume, plimsoll inspect {mount}; then: {same}")
        }
        "completed" if can_go_on(run) => format!(
            "Go on with it, plimsoll run --resume FOLDER (the folder of this run), or measure \
             again: {same}"
        ),
        "pauses" => format!(
            "Keep the machine from being suspended, moved or stopped for the whole run: {same}"
        ),
        "checksums" => {
            let databases = run.start.databases.iter();
            let files = databases.fold(String::new(), |files, facts| files + " " + &facts.file);
            format!("Read the databases to their end: plimsoll check{files}")
        }
        _ => format!("Measure again, to the end: {same}"),
    }
}

/// Whether the run ended because a volume was about to be full.
fn is_for_room(run: &RunRecord) -> bool {
    run.finished.as_ref().is_some_and(|finished| finished.is_for_room)
}

/// Whether the storage was too slow for the run to come to its end.
fn is_overdue(run: &RunRecord) -> bool {
    run.finished.as_ref().is_some_and(|finished| finished.is_overdue)
}

/// Whether the run was cut off and left what it takes to go on.
fn can_go_on(run: &RunRecord) -> bool {
    run.finished.is_none() && !run.attachments.is_empty()
}

/// Whether even the whole test would have been too short.
fn is_planned_short(run: &RunRecord) -> bool {
    let settings = &run.start.settings;
    settings.measure_ns < settings.thresholds.minimum_measure_ns
}

/// Whether a latency was not judged for want of requests, rather than in doubt of a slow one.
fn has_too_few(finding: &Finding) -> bool {
    let beside = finding.limit.zip(finding.measured);
    beside.is_none_or(|(limit, measured)| measured <= limit.value())
}

/// Whether the load was measured for as long as was asked for.
fn is_measured_whole(run: &RunRecord) -> bool {
    let asked_ns = run.start.settings.measure_ns;
    asked_ns > 0 && run.span_ns(Phase::Measure) >= asked_ns / 100 * 99
}

/// Twice the time that was measured, as an option says it.
fn twice_as_long(run: &RunRecord) -> String {
    format!("{}s", run.start.settings.measure_ns.saturating_mul(2).div_ceil(1_000_000_000))
}

/// The run that ends before the volume is full.
fn shorter(run: &RunRecord) -> String {
    let least_ns = run.start.settings.thresholds.minimum_measure_ns;
    let fitting_ns = run.span_ns(Phase::Measure) / 10 * 8;
    if fitting_ns >= least_ns.max(1) {
        let seconds = fitting_ns / 1_000_000_000;
        let shorter = again(run, &[("--duration", format!("{seconds}s"))]);
        return format!("Free space on the volume, or run shorter: {shorter}");
    }
    let first = run.start.databases.first();
    let half = Bytes(first.map_or(0, |facts| facts.initial_bytes / 2));
    if half < plan::SMALLEST_FILE {
        return format!(
            "Free space on the volume, or take a larger one, then: {}",
            again(run, &[])
        );
    }
    if has_plan(run) {
        let again = again(run, &[]);
        return format!(
            "Free space on the volume, or use databases of {half} in a new folder, then: {again}"
        );
    }
    let smaller = again(run, &[("--size", format!("{}MiB", half.0 >> 20))]);
    format!("Free space on the volume, or remove the databases, then: {smaller}")
}

#[cfg(test)]
mod tests {
    use super::{SOME_PLAN, again, less_load, passed, shorter, steps};
    use crate::tests::passing;

    #[test]
    fn a_test_without_a_plan_is_told_of_none_of_its_own() {
        let mut run = passing();
        for facts in &mut run.start.databases {
            facts.initial_bytes = 1 << 40;
        }
        assert!(passed(&run).ends_with("plimsoll run plan.toml --test stress --duration 24h"));
        run.start.command = "plimsoll quick disk".to_owned();
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        run.start.options = vec![option("--size", "2TiB"), option("--duration", "9s")];
        assert!(passed(&run).ends_with(": plimsoll quick disk --size 2TiB --duration 2h"));
        run.start.options = Vec::new();
        run.start.command = String::new();
        assert!(passed(&run).contains(SOME_PLAN));
    }

    #[test]
    fn no_databases_are_advised_that_a_plan_refuses() {
        let mut run = passing();
        run.start.settings.thresholds.minimum_measure_ns = u64::MAX;
        run.start.command = "plimsoll quick disk".to_owned();
        run.start.databases[0].initial_bytes = 32 << 20;
        assert!(shorter(&run).ends_with(" --size 16MiB"), "{}", shorter(&run));
        run.start.databases[0].initial_bytes = 16 << 20;
        assert!(shorter(&run).ends_with("take a larger one, then: plimsoll quick disk"));
    }

    #[test]
    fn one_session_is_not_halved() {
        let mut run = passing();
        run.start.settings.threads_per_database = 8;
        assert_eq!(less_load(&run), ("--threads", "4".to_owned()));
        run.start.options = vec![("--target-iops".to_owned(), "900".to_owned())];
        let halved = again(&run, &[less_load(&run)]);
        assert_eq!(halved, "plimsoll run plan.toml --threads 4");
        run.start.settings.threads_per_database = 1;
        let iops = run.achieved_transactional_iops() / 2.0;
        assert_eq!(less_load(&run), ("--target-iops", format!("{iops:.0}")));
    }

    #[test]
    fn too_few_requests_of_a_whole_measurement_take_a_longer_one() {
        let mut run = passing();
        run.start.settings.thresholds.minimum_reads = u64::MAX;
        let measure_ns = run.start.settings.measure_ns;
        let verdict = verdict::judge(&run);
        let told = steps(&run, &verdict);
        let doubled = measure_ns * 2 / 1_000_000_000;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("Measure for longer"), "{told:?}");
        assert!(told[0].ends_with(&format!("plimsoll run plan.toml --duration {doubled}s")));
        run.start.settings.measure_ns = measure_ns * 2;
        let told = steps(&run, &verdict);
        assert!(told.iter().all(|step| step.starts_with("Measure again, to the end")), "{told:?}");
    }

    #[test]
    fn a_volume_that_filled_up_is_measured_for_a_shorter_time_while_that_proves_anything() {
        let mut run = passing();
        assert!(shorter(&run).contains("plimsoll run plan.toml --duration "));
        run.start.settings.thresholds.minimum_measure_ns = u64::MAX;
        assert!(shorter(&run).contains("in a new folder, then: plimsoll run plan.toml"));
    }
}
