//! Headline, findings and conclusion of a paper never contradict the results of its runs.

use record::synthetic::{Synthetic, drawn};
use record::{RunRecord, TestType};
use units::{Prng, Seed};
use verdict::{Ruling, judge};

use super::{SAID, conclusion, vendor};
use crate::{TestedRun, html, paper};

const DRAWS: u64 = 150;
const LONG_DRAWS: u64 = 40;

const KINDS: [TestType; 4] =
    [TestType::Performance, TestType::Stress, TestType::Backup, TestType::Recovery];

const SUITABLE: &str = "The tests establish suitability";
const REFUSED: &str = "This paper does not establish suitability: ";

fn tested(record: RunRecord) -> TestedRun {
    TestedRun { name: record.start.test.name().to_owned(), verdict: judge(&record), record }
}

/// A set of short tests of one machine in which anything may go wrong.
pub(super) fn short_set(seed: u64) -> Vec<TestedRun> {
    let mut runs: Vec<RunRecord> = (0..4).map(|number| drawn(4 * seed + number)).collect();
    let machine = runs[0].start.machine.clone();
    for (run, kind) in runs.iter_mut().zip(KINDS) {
        (run.start.test, run.start.machine) = (kind, machine.clone());
    }
    runs.into_iter().map(tested).collect()
}

/// Records of tests as long as papers require.
fn long_records() -> Vec<RunRecord> {
    let kinds = KINDS.into_iter().zip([4, 12, 1, 1]);
    let made = kinds.map(|(kind, measure_intervals)| {
        let seconds = if kind == TestType::Stress { 7_200 } else { 1_800 };
        let made =
            Synthetic { interval_seconds: seconds, measure_intervals, ..Synthetic::default() };
        let mut record = made.run();
        record.start.test = kind;
        record
    });
    made.collect()
}

/// Tests as long as papers require, with plans that ask for more or less than was achieved.
fn long_set(records: &[RunRecord], seed: u64) -> Vec<TestedRun> {
    let mut prng = Prng::new(Seed(seed));
    let mut runs = Vec::new();
    for record in records {
        let mut record = record.clone();
        let kind = record.start.test;
        let settings = &mut record.start.settings;
        let carried = 5 * prng.below(8);
        settings.target_iops = None;
        settings.mailboxes = Some(1_700 + 20 * carried);
        settings.iops_per_mailbox = Some(0.12);
        settings.mailbox_bytes = Some((1 + prng.below(2)) << 30);
        let mut run = tested(record);
        if !matches!(kind, TestType::Performance | TestType::Stress) {
            // A synthetic record contains no pass over files, so the verdict is set here.
            run.verdict.outcome = Ruling::Pass;
        }
        runs.push(run);
    }
    runs
}

/// The page of a set; `None` if no paper can be made of it.
fn page(runs: &[TestedRun]) -> Option<String> {
    Some(html(&paper(runs, &vendor(SAID), Vec::new()).ok()?))
}

fn lacks_something(run: &TestedRun) -> bool {
    report::lacking(&run.verdict).is_some()
}

/// Fails if the page and its runs disagree; returns whether the page establishes suitability.
fn agrees(runs: &[TestedRun], page: &str) -> bool {
    let said = conclusion(page);
    for run in runs {
        let name = report::verdict_name(&run.record, &run.verdict);
        assert!(page.contains(&format!(": {name}, ")), "{name} is no headline of an appendix");
        assert!(page.contains(&format!("<td>{name}</td>")), "{name} is not in the table");
        if run.verdict.exit_code() != 0 || lacks_something(run) {
            let expected = format!(": {}", name.to_lowercase());
            assert!(said.starts_with(REFUSED), "{name}: {said}");
            assert!(said.contains(&expected), "{name}: {said}");
        }
    }
    let are_enough = runs.iter().all(|run| run.verdict.exit_code() == 0 && !lacks_something(run));
    let settings = &runs[0].record.start.settings;
    let asks = settings.mailboxes.and(settings.iops_per_mailbox).and(settings.mailbox_bytes);
    if are_enough && asks.is_some() {
        assert!(!said.contains("NOT enough"), "every report says that it is enough: {said}");
    }
    let is_suitable = said.starts_with(SUITABLE);
    assert!(!is_suitable || are_enough && !page.contains("NOT enough"), "{said}");
    is_suitable
}

#[test]
fn a_paper_says_of_its_runs_what_their_reports_say() {
    let mut seen = 0;
    for runs in (0..DRAWS).map(short_set) {
        let Some(page) = page(&runs) else { continue };
        assert!(!agrees(&runs, &page), "half a minute proves no suitability");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn suitability_follows_where_every_report_says_enough_and_nowhere_else() {
    let records = long_records();
    let mut suitable = 0;
    for seed in 0..LONG_DRAWS {
        let runs = long_set(&records, seed);
        let page = page(&runs).expect("a paper");
        suitable += u64::from(agrees(&runs, &page));
    }
    assert!((1..LONG_DRAWS).contains(&suitable), "{suitable}");
}
