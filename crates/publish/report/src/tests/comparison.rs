//! Comparisons of made-up runs: their text is unchanged, every form is complete, and names are
//! harmless.

use record::synthetic::Synthetic;
use units::Seed;
use verdict::{NamedRun, RunComparison, compare};

use super::golden::check;
use crate::{ReportForm, comparison_text, render_comparison};

fn named(name: &str, parameters: &Synthetic) -> NamedRun {
    let record = parameters.run();
    let verdict = verdict::judge(&record);
    NamedRun { name: name.to_owned(), record, verdict }
}

/// A run, one on a slower disk with another file system, and one too short with a hostile name.
fn compared() -> (Vec<NamedRun>, RunComparison) {
    let usual = Synthetic::default();
    let slower = Synthetic { seed: Seed(7), read_median_ns: 12_000_000, ..usual.clone() };
    let short = Synthetic { seed: Seed(8), measure_intervals: 2, ..usual.clone() };
    let hostile = "<script>alert('x')</script>\u{1b}[2J";
    let mut runs = vec![named("xfs", &usual), named("btrfs", &slower), named(hostile, &short)];
    for database in &mut runs[1].record.start.databases {
        database.volume.file_system = "btrfs".to_owned();
    }
    let comparison = compare(&runs).expect("runs of one kind");
    (runs, comparison)
}

#[test]
fn the_text_is_as_before() {
    let (runs, comparison) = compared();
    let text = comparison_text(&runs, &comparison);
    check("comparison.txt", include_str!("../../golden/comparison.txt"), &text);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn what_may_mislead_stands_above_every_number() {
    let (mut runs, _) = compared();
    runs[1].record.seal = record::Seal::Altered { line: 5 };
    let comparison = compare(&runs).expect("runs of one kind");
    let text = comparison_text(&runs, &comparison);
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} not in:\n{text}"));
    assert!(place("DOUBTFUL: ") < place("ALTERED"), "{text}");
    assert!(place("ALTERED") < place("B against A"), "{text}");
    assert!(render_comparison(ReportForm::Page, &runs, &comparison).contains("Doubtful: "));
}

#[test]
fn what_was_only_simulated_is_called_that_and_not_doubtful() {
    let (mut runs, _) = compared();
    runs.truncate(2);
    let answer = |runs: &[verdict::NamedRun]| {
        let text = comparison_text(runs, &compare(runs).expect("runs of one kind"));
        let line = text.lines().find(|line| line.contains("PASS")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no answer in:\n{text}"))
    };
    runs[0].record.start.simulated = Some(Box::default());
    assert!(answer(&runs).starts_with("DOUBTFUL: "), "one was measured: {}", answer(&runs));
    runs[1].record.start.simulated = Some(Box::default());
    assert!(answer(&runs).starts_with("SIMULATED: "), "{}", answer(&runs));
    runs[1].record.seal = record::Seal::Altered { line: 5 };
    assert!(answer(&runs).starts_with("DOUBTFUL: "), "{}", answer(&runs));
}

#[test]
fn who_passes_stands_before_what_differs() {
    let (mut runs, _) = compared();
    runs.truncate(2);
    runs[1].verdict.outcome = verdict::Ruling::Fail;
    let comparison = compare(&runs).expect("runs of one kind");
    let text = comparison_text(&runs, &comparison);
    assert!(text.contains("ONLY A PASSES") && !text.contains("XFS"), "{text}");
    assert!(text.contains("A (xfs): Pass.\nB (btrfs): Fail."), "{text}");
    for unlike in [verdict::Ruling::Fail, verdict::Ruling::CannotJudge] {
        runs[1].verdict.outcome = verdict::Ruling::CannotJudge;
        runs[0].verdict.outcome = unlike;
        let text = comparison_text(&runs, &comparison);
        assert!(text.contains("7 REAL DIFFERENCES"), "{unlike:?}: {text}");
    }
    runs[0].verdict.outcome = verdict::Ruling::Pass;
    let text = comparison_text(&runs, &comparison);
    assert!(text.contains("\n7 REAL DIFFERENCES"), "{text}");
    let both = [(verdict::Ruling::Pass, "BOTH PASS"), (verdict::Ruling::Fail, "NEITHER PASSES")];
    for (outcome, words) in both {
        for run in &mut runs {
            run.verdict.outcome = outcome;
        }
        let text = comparison_text(&runs, &comparison);
        assert!(text.contains(&format!("\n{words}, 7 REAL DIFFERENCES")), "{text}");
    }
}

#[test]
fn the_run_that_carries_more_is_named_with_its_factor() {
    let usual = Synthetic::default();
    let busy = Synthetic { databases: 6 * usual.databases, ..usual.clone() };
    let mut runs = vec![named("array-a", &busy), named("array-b", &usual)];
    // The same work according to the record, and six times the requests.
    runs[0].record.start.databases.truncate(usual.databases as usize);
    let headline = |runs: &[NamedRun]| {
        let text = comparison_text(runs, &compare(runs).expect("runs of one kind"));
        assert!(!text.contains("ARRAY"), "names keep their spelling: {text}");
        let line = text.lines().find(|line| line.contains(" TIMES ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no answer in:\n{text}"))
    };
    for run in &mut runs {
        run.verdict.outcome = verdict::Ruling::Pass;
    }
    let told = headline(&runs);
    assert!(told.contains("A CARRIES ") && told.contains(" TIMES THE LOAD OF B"), "{told}");
    assert!(told.contains("; BOTH PASS"), "{told}");
    runs.swap(0, 1);
    let told = headline(&runs);
    assert!(told.contains("B CARRIES ") && told.contains(" TIMES THE LOAD OF A"), "{told}");
    let text = comparison_text(&runs, &compare(&runs).expect("runs of one kind"));
    assert!(text.contains("\nB (array-a): Pass."), "the letter of the winner has a name: {text}");
    runs[1].record.seal = record::Seal::Altered { line: 5 };
    let text = comparison_text(&runs, &compare(&runs).expect("runs of one kind"));
    assert!(!text.contains("CARRIES"), "{text}");
}

#[test]
fn databases_that_grew_between_two_runs_are_to_be_made_alike() {
    let usual = Synthetic::default();
    let mut runs = vec![named("first", &usual), named("second", &usual)];
    let advice = "`plimsoll prepare --reset plan.toml` before each makes them alike";
    assert!(!said(&runs).contains(advice), "they are alike");
    for database in &mut runs[1].record.start.databases {
        database.initial_bytes = database.initial_bytes * 4 / 3;
    }
    assert!(said(&runs).contains(advice), "{}", said(&runs));
}

/// The text of a comparison as one line.
fn said(runs: &[NamedRun]) -> String {
    let text = comparison_text(runs, &compare(runs).expect("runs of one kind"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Two runs of a load without a target, whose rate swings by `swing` percent every ten intervals.
fn swinging(swing: u64) -> Vec<NamedRun> {
    let mut runs = compared().0;
    runs.truncate(2);
    for run in &mut runs {
        run.record.start.settings.target_iops = None;
        for (number, row) in run.record.intervals.iter_mut().enumerate() {
            let share = if number / 10 % 2 == 0 { 100 + swing } else { 100 - swing };
            row.to_ns = row.from_ns + row.span_ns() * share / 100;
        }
    }
    runs
}

#[test]
fn the_answer_says_whether_either_run_carries_more() {
    let near = said(&swinging(0));
    assert!(near.contains("339 and 339 IOPS measured in A and B"), "{near}");
    let neither = "Neither A nor B carries more: their IOPS differ by 0.0 %, within the margin of";
    assert!(near.contains(neither), "{near}");
    let noisy = said(&swinging(60));
    let unknown = "Whether A or B carries more cannot be told: their IOPS differ by 0.0 %, within";
    assert!(noisy.contains(unknown) && noisy.contains("; measure longer. B against A"), "{noisy}");
    let held = said(&compared().0);
    assert!(held.contains("A and B were held to 240 IOPS: which of them carries more"), "{held}");
    let mut turned = compared().0;
    turned.reverse();
    for text in [held, said(&turned)] {
        assert!(text.contains("339 to 351 IOPS measured in 3 runs"), "{text}");
    }
    let mut altered = swinging(60);
    altered[1].record.seal = record::Seal::Altered { line: 5 };
    assert!(!said(&altered).contains("carries more"), "{}", said(&altered));
}

#[test]
fn headline_sentence_table_and_json_count_the_same_differences() {
    let mut runs = swinging(0);
    for run in &mut runs {
        run.verdict.outcome = verdict::Ruling::CannotJudge;
    }
    // More transactions, which are neither better nor worse.
    for totals in runs[1].record.totals.values_mut() {
        let transactions = totals.series.get_mut(&record::Series::Transaction);
        let Some(latency) = transactions.map(|of| &mut of.latency) else { continue };
        let twice = latency.clone();
        latency.merge(&twice);
    }
    for row in &mut runs[1].record.intervals {
        for (series, of) in &mut row.series {
            of.latency.count *= 1 + u64::from(*series == record::Series::Transaction);
        }
    }
    let comparison = compare(&runs).expect("runs of one kind");
    let text = comparison_text(&runs, &comparison);
    let json = render_comparison(ReportForm::Json, &runs, &comparison);
    assert_eq!(json.matches("\"difference\": \"real\"").count(), 8, "{text}");
    assert!(json.contains("8 real differences\""), "{json}");
    assert!(
        text.contains("8 REAL DIFFERENCES") && text.contains("; 5 more in the table"),
        "{text}"
    );
    let rows = text.lines().filter(|line| line.contains(" % ") && line.contains("  real"));
    assert_eq!(rows.count(), 8, "{text}");
}

#[test]
fn simulated_runs_begin_in_virtual_time() {
    let (mut runs, _) = compared();
    for run in &mut runs {
        run.record.start.simulated = Some(Box::default());
    }
    let comparison = compare(&runs).expect("runs of one kind");
    for form in [ReportForm::Text { width: 200 }, ReportForm::Page] {
        let shown = render_comparison(form, &runs, &comparison);
        let virtual_time = shown.matches("simulated, in virtual time").count();
        assert_eq!((virtual_time, shown.matches("2026-11-21").count()), (4, 0), "{shown}");
    }
    let json = render_comparison(ReportForm::Json, &runs, &comparison);
    assert_eq!(json.matches("\"started\": null").count(), 3, "{json}");
    let run = super::simulated();
    let text = crate::text(&run, &verdict::judge(&run));
    let row = text.lines().find(|line| line.starts_with("Test Start Time")).expect("a row");
    assert!(row.contains("  simulated, in virtual time"), "{row}");
    assert!(text.contains(" of virtual time\n") && !text.contains("2026-11-21"), "{text}");
}

#[test]
fn what_differs_and_what_does_not_are_both_said() {
    let (mut runs, _) = compared();
    runs.truncate(2);
    let said = |runs: &[NamedRun]| comparison_text(runs, &compare(runs).expect("runs of one kind"));
    let others = "Everything else about machine, storage and settings is the same.";
    assert!(said(&runs).contains(others), "{}", said(&runs));
    runs[1].record.start.databases = runs[0].record.start.databases.clone();
    assert!(said(&runs).contains("settings are the same in every run."), "{}", said(&runs));
    for database in &mut runs[1].record.start.databases {
        database.initial_bytes *= 2;
    }
    let text = said(&runs);
    assert!(text.contains("size of the databases at the start  1.99 GiB  3.98 GiB"), "{text}");
    assert!(text.contains(others) && !text.contains("same in every run"), "{text}");
}

#[test]
fn a_buyer_finds_each_run_in_a_line_above_the_contents() {
    let (mut runs, _) = compared();
    runs.truncate(2);
    runs[1].record.start.settings.thresholds.read_average_ns = 15_000_000;
    runs[1].verdict = verdict::judge(&runs[1].record);
    runs[0].record.start.settings.target_iops = None;
    runs[0].record.start.settings.mailboxes = Some(1_000);
    let comparison = compare(&runs).expect("runs of one kind");
    let text = comparison_text(&runs, &comparison);
    let line = |begin: &str| {
        let line = text.lines().find(|line| line.starts_with(begin));
        let words = line.unwrap_or_else(|| panic!("{begin} not in:\n{text}")).split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    let first = "A: xfs Pass 120 339 11.0 ms (limit 20) 2.44 ms (limit 10) 1,117 by space";
    assert_eq!(line("A: xfs "), first);
    let second = "B: btrfs Fail 240 339 16.2 ms (limit 15) 2.46 ms (limit 10) -";
    assert_eq!(line("B: btrfs "), second);
    let page = render_comparison(ReportForm::Page, &runs, &comparison);
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part} is not there"));
    assert!(place("id=\"at-a-glance\"") < place("<nav"));
    assert!(page.contains("<td class=\"fail number\" data-label=\"Database reads\">"));
}

#[test]
fn the_page_is_whole_and_names_are_no_markup() {
    let (runs, comparison) = compared();
    let page = render_comparison(ReportForm::Page, &runs, &comparison);
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert!(!page.contains('\u{1b}'));
    assert_eq!(page.matches("<svg role=\"img\"").count(), 3, "three charts");
    let links = page.split("href=\"#").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]);
    for link in links {
        assert!(page.contains(&format!("id=\"{link}\"")), "{link} leads nowhere");
    }
}

#[test]
fn programs_read_the_same_numbers_in_both_forms() {
    let (runs, comparison) = compared();
    let text = render_comparison(ReportForm::Json, &runs, &comparison);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["kind"], "comparison");
    let metrics = json["metrics"].as_array().unwrap();
    let csv = render_comparison(ReportForm::Csv, &runs, &comparison);
    let mut lines = csv.lines().skip(1);
    for metric in metrics {
        for value in metric["values"].as_array().unwrap() {
            let line = lines.next().unwrap();
            let (before, after) = line.split_once("\",").unwrap();
            assert!(before.starts_with(metric["id"].as_str().unwrap()), "{line}");
            let fields: Vec<&str> = after.split(',').collect();
            for (field, name) in fields.iter().zip(["value", "change_percent", "margin_percent"]) {
                let in_json = value[name].as_f64().map_or(0.0, |number| number);
                let in_csv = field.parse::<f64>().unwrap_or_default();
                assert!((in_csv - in_json).abs() <= in_json.abs() * 1e-12, "{line}: {value}");
            }
        }
    }
    assert_eq!(lines.next(), None);
    let read = metrics.iter().find(|metric| metric["id"] == "read_latency_mean").unwrap();
    assert_eq!(read["values"][1]["difference"], "real");
    assert_eq!(read["values"][2]["difference"], "unknown");
    assert_eq!(json["differences"][0]["values"][1], "btrfs, xfs");
}

#[test]
fn other_work_is_neither_better_nor_worse() {
    let (mut runs, _) = compared();
    runs.truncate(2);
    let said = |runs: &[NamedRun]| comparison_text(runs, &compare(runs).expect("runs of one kind"));
    assert!(said(&runs).contains("(worse)") && said(&runs).contains("real: worse"));
    runs[1].record.start.settings.target_iops = Some(50.0);
    let text = said(&runs);
    assert!(text.contains("Not the same work"), "{text}");
    for word in ["better", "worse"] {
        assert!(!text.contains(word), "{word} is in\n{text}");
    }
    assert!(text.contains("B against A: "), "{text}");
}
