//! One report of several tests: it is complete even if a test was not run, and it sums and averages
//! as the documents based on it do.

use serde_json::Value;
use verdict::{Ruling, Verdict, judge};

use super::{backup, failing, passing, recovery};
use crate::{
    NamedSet, ReportForm, SuiteTest, TEXT_WIDTH, Unmeasured, glossary, render_suite, render_suites,
    suite_outcome, suite_schema, suite_summary_in, suite_xml,
};
use record::synthetic::Synthetic;
use record::{Phase, RunRecord, Series, TestType};

const TEXT: ReportForm = ReportForm::Text { width: TEXT_WIDTH };

fn suite_summary(tests: &[SuiteTest<'_>]) -> String {
    suite_summary_in(tests, "set")
}

/// The tests of a set; the last was not run.
fn with_set<T>(runs: &[RunRecord], use_it: impl FnOnce(&[SuiteTest<'_>]) -> T) -> T {
    let verdicts: Vec<Verdict> = runs.iter().map(judge).collect();
    let made = runs.iter().zip(&verdicts).zip(1..);
    let mut tests: Vec<SuiteTest<'_>> = made
        .map(|((run, verdict), number)| SuiteTest {
            kind: run.start.test,
            folder: format!("{number}-test"),
            measured: Ok((run, verdict)),
        })
        .collect();
    let why = "a volume lacks <room>".to_owned();
    tests.push(SuiteTest {
        kind: TestType::Stress,
        folder: "4-stress".to_owned(),
        measured: Err(Unmeasured::Because(Ruling::CannotJudge, why)),
    });
    use_it(&tests)
}

#[test]
fn a_set_is_as_good_as_its_worst_test() {
    let all_well = [passing(), passing()];
    assert_eq!(with_set(&all_well, suite_outcome), Ruling::CannotJudge, "one was not run");
    assert_eq!(with_set(&all_well, |tests| suite_outcome(&tests[..2])), Ruling::Pass);
    assert_eq!(with_set(&[passing(), failing()], suite_outcome), Ruling::Fail);
    let said = with_set(&all_well, suite_summary);
    assert!(said.starts_with("CANNOT JUDGE  2 of 3 tests passed\n"), "{said}");
    assert!(said.contains("Stress: Not run: a volume lacks <room>."), "{said}");
}

#[test]
fn a_test_of_a_set_that_did_not_pass_gives_every_reason() {
    let said = with_set(&[super::interrupted(), failing()], suite_summary);
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("Next: ")).collect();
    for line in [
        "Performance: Inconclusive: this run cannot judge the storage.",
        "- Measured time 0 s, at least 30 s.",
        "- Completion: interrupted by Ctrl-C <now>.",
        "Performance: Not fit to hold data.",
    ] {
        assert!(lines.contains(&line), "{line} is not in {lines:#?}");
    }
    assert!(lines.iter().any(|line| line.starts_with("- ") && line.contains("2 bad")), "{said}");
}

#[test]
fn a_set_on_volumes_that_are_too_small_says_so() {
    let small = super::too_small();
    let all = [passing(), small];
    let (said, json) = with_set(&all, |tests| {
        (suite_summary(&tests[..2]), render_suite(ReportForm::Json, &tests[..2]))
    });
    assert!(said.starts_with("PASS, TOO SMALL  2 of 2 tests passed\n"), "{said}");
    assert!(said.contains("Mailboxes that have room"), "{said}");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["exit_code"].as_u64(), json["headline"].as_str()),
        (Some(0), Some("Pass, too small"))
    );
}

#[test]
fn the_tables_are_sums_of_rates_and_plain_means() {
    let (load, read) = (passing(), backup());
    let means = load.start.databases.iter().map(|facts| {
        let totals = load.totals_of(Phase::Measure, facts.index).unwrap();
        totals.series[&Series::DatabaseRead].latency.mean_ns()
    });
    let mean_ms = means.sum::<f64>() / 1e6 / load.start.databases.len() as f64;
    let text = with_set(&[load, read, recovery()], |tests| render_suite(TEXT, tests));
    let mean = format!("{mean_ms:.3}");
    assert!(text.contains(&mean), "{mean} is not in\n{text}");
    // 1,115 s and 1,121 s for 501 logs each: 2.226 s and 2.238 s.
    assert!(text.contains(" 1,002") && text.contains("2.232"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let labels =
        ["Log files of all databases together", "a latency is the plain mean over databases"];
    for label in labels {
        assert!(words.contains(label), "{label} is not in\n{text}");
    }
    for title in ["Storage Performance Results", "Database Read-Only Performance"] {
        assert!(text.contains(title), "{title}");
    }
    assert!(text.contains("Log Recovery/Replay"));
}

/// A backup reads databases at the same time but not for equally long.
#[test]
fn a_backup_has_one_rate_in_every_place() {
    let mut run = backup();
    run.backups[0].elapsed_ns = run.backups[0].elapsed_ns * 13 / 7;
    let bytes: u64 = run.backups.iter().map(|of| of.bytes).sum();
    let longest_ns = run.backups.iter().map(|of| of.elapsed_ns).max().unwrap();
    let rate = bytes as f64 / f64::from(1 << 20) / (longest_ns as f64 / 1e9);
    let rate = units::three_digits(rate);
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let own = words(crate::text(&run, &judge(&run)));
    let said = crate::passes::sentence(&run.backups);
    assert!(said.ends_with(&format!(", {rate} MiB/s until all were read.")), "{said}");
    let text = words(with_set(&[run], |tests| render_suite(TEXT, tests)));
    let row = format!("Database backup Cannot judge {rate} MiB/s");
    assert!(text.contains(&row), "{row} is not in\n{text}");
    let table = text.split("Database Read-Only Performance").nth(1).unwrap();
    let row = table.split(" Database backup ").nth(1).unwrap().split(' ').nth(1);
    assert_eq!(row, Some(&*rate), "{table}");
    let statistics = own.split("Database Backup Statistics - All").nth(1).unwrap();
    // The table is too wide for one piece; length, time and rate are in the second.
    let sum = statistics.split("(Sum) ").nth(2).unwrap().split(' ').nth(2);
    assert_eq!(sum, Some(&*rate), "{own}");
}

#[test]
fn a_drift_in_one_test_reaches_the_headline_of_the_set() {
    let mut stress = passing();
    stress.start.test = TestType::Stress;
    let runs = [super::drifting(), stress];
    let (said, text, json) = with_set(&runs, |tests| {
        let tests = &tests[..2];
        (suite_summary(tests), render_suite(TEXT, tests), render_suite(ReportForm::Json, tests))
    });
    assert!(said.starts_with("PASS, NOT STEADY  2 of 2 tests passed\n"), "{said}");
    assert!(said.contains("Warning: Change from start to end"), "{said}");
    assert!(text.contains("Performance  Pass, not steady"), "{text}");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["headline"], "Pass, not steady");
}

#[test]
fn a_text_fits_a_narrow_terminal() {
    let runs = [passing(), failing(), backup(), recovery()];
    for width in [60, 80] {
        let mut text = with_set(&runs, |tests| render_suite(ReportForm::Text { width }, tests));
        for run in &runs {
            text += &crate::document_text(&crate::document(run, &judge(run)), width);
        }
        let wide = text
            .lines()
            .find(|line| line.chars().count() > width && line.trim_start().contains(' '));
        assert!(wide.is_none(), "{width}: {wide:?}");
    }
}

#[test]
fn a_repeated_test_names_the_run_that_it_replaces() {
    let run = backup();
    let verdict = judge(&run);
    let folder = "3-backup-2".to_owned();
    let tests = [SuiteTest { kind: run.start.test, folder, measured: Ok((&run, &verdict)) }];
    let said = suite_summary(&tests);
    assert!(said.contains(" This is 3-backup-2, in place of 3-backup."), "{said}");
    let page = render_suite(ReportForm::Page, &tests);
    assert!(page.contains("3-backup-2/report.html, in place of 3-backup"));
}

#[test]
fn page_and_json_are_whole() {
    let runs = [passing(), backup(), recovery()];
    let page = with_set(&runs, |tests| render_suite(ReportForm::Page, tests));
    assert!(page.contains("lacks &lt;room&gt;") && !page.contains("<room>"));
    for part in page.split("href=\"#g-").skip(1) {
        let id = part.split('"').next().unwrap();
        assert!(glossary::entries().iter().any(|entry| entry.id == id), "{id}");
        assert!(page.contains(&format!("id=\"g-{id}\"")), "{id}");
    }
    let json: Value =
        serde_json::from_str(&with_set(&runs, |tests| render_suite(ReportForm::Json, tests)))
            .unwrap();
    assert_eq!(
        (json["exit_code"].as_u64(), json["verdict"].as_str()),
        (Some(2), Some("cannot_judge"))
    );
    let tests = json["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 4);
    assert_eq!(tests[1]["report"]["run"]["test"], "backup");
    assert_eq!(tests[3]["not_run"], "a volume lacks <room>");
    assert!(tests[3]["report"].is_null());
}

/// Two sets; the second has a slower performance test and no stress test.
fn with_two_sets<T>(use_it: impl FnOnce(&[NamedSet<'_>]) -> T) -> T {
    with_changed_sets(|_| (), use_it)
}

/// The same with a change to the second performance test.
fn with_changed_sets<T>(
    change: impl FnOnce(&mut RunRecord),
    use_it: impl FnOnce(&[NamedSet<'_>]) -> T,
) -> T {
    let mut stress = passing();
    stress.start.test = TestType::Stress;
    let mut slower = failing();
    change(&mut slower);
    let runs = [[passing(), stress.clone()], [slower, stress]];
    let verdicts = runs.each_ref().map(|runs| runs.each_ref().map(judge));
    let mut sets = Vec::new();
    for ((name, runs), verdicts) in ["one <a>", "other"].iter().zip(&runs).zip(&verdicts) {
        let tests = runs.iter().zip(verdicts).map(|(run, verdict)| SuiteTest {
            kind: run.start.test,
            folder: String::new(),
            measured: Ok((run, verdict)),
        });
        sets.push(NamedSet { name: (*name).to_owned(), tests: tests.collect() });
    }
    let why = "stopped by the user".to_owned();
    sets[1].tests[1].measured = Err(Unmeasured::Because(Ruling::CannotJudge, why));
    use_it(&sets)
}

#[test]
fn each_test_of_a_set_is_compared_with_the_same_test_of_another() {
    let text = with_two_sets(|sets| render_suites(TEXT, sets));
    for part in ["ONLY A PASSES", "2 of 2 tests passed in set A", "one <a> beside other"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(text.contains("Performance: B: too few intervals"), "{text}");
    assert!(text.contains("Stress: not compared: it was not run in other."), "{text}");
    let page = with_two_sets(|sets| render_suites(ReportForm::Page, sets));
    assert!(page.contains("one &lt;a&gt;") && !page.contains("<a>"));
    for id in ["tests", "compared-performance", "compared-recovery", "at-a-glance"] {
        let count = page.matches(&format!("<section id=\"{id}\"")).count();
        assert_eq!(count, usize::from(id != "at-a-glance"), "{id}");
    }
    let json: Value =
        serde_json::from_str(&with_two_sets(|sets| render_suites(ReportForm::Json, sets))).unwrap();
    assert_eq!(
        (&json["kind"], &json["sets"][1]["verdict"]),
        (&"set_comparison".into(), &"fail".into())
    );
    assert_eq!(json["tests"][0]["verdicts"], serde_json::json!(["pass", "fail"]));
    assert!(json["tests"][0]["comparison"]["metrics"].is_array());
    assert_eq!(json["tests"][1]["not_compared"], "it was not run in other");
    let csv = with_two_sets(|sets| render_suites(ReportForm::Csv, sets));
    assert!(
        csv.starts_with("test,metric,unit,run,name,") && csv.contains("\nPerformance,"),
        "{csv}"
    );
}

#[test]
fn a_set_has_the_intervals_and_results_of_its_tests() {
    let runs = [passing(), backup()];
    let csv = with_set(&runs, |tests| render_suite(ReportForm::Csv, tests));
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(csv.starts_with("test,phase,from_s,") && columns.iter().all(|of| *of == columns[0]));
    assert!(csv.contains("\nPerformance,measurement,") && csv.contains("\nDatabase backup,"));
    let xml = with_set(&runs, suite_xml);
    assert_eq!((xml.matches("<output>").count(), xml.matches("<test ").count()), (1, 3));
    assert_eq!(xml.matches("<?xml").count(), 1, "{}", &xml[..200]);
    assert!(xml.contains("<not-run>a volume lacks &lt;room&gt;</not-run>"));
    let schema = suite_schema();
    let written: Value =
        serde_json::from_str(&with_set(&runs, |tests| render_suite(ReportForm::Json, tests)))
            .unwrap();
    for (name, _) in written.as_object().unwrap() {
        assert!(schema["properties"][name].is_object(), "{name} is not in the schema");
    }
}

#[test]
fn a_test_that_ended_before_its_result_was_not_measured() {
    let mut replay = recovery();
    replay.replays.clear();
    let text = with_set(&[replay], |tests| render_suite(TEXT, tests));
    assert!(text.contains("Soft recovery  Cannot judge  not measured"), "{text}");
    assert!(!text.contains("no s per log file"), "{text}");
}

/// A step of a set that passed asks to end the programs that are named above.
#[test]
fn a_set_names_what_disturbed_a_test_that_passed() {
    let mut run = passing();
    let top = record::ProgramShare { name: "rustc".to_owned(), percent: 40.0 };
    for row in &mut run.intervals {
        row.processors = Some(record::ProcessorShares {
            busy_percent: 60.0,
            others_percent: 40.0,
            top: Some(top.clone()),
            ..record::ProcessorShares::default()
        });
    }
    let said = with_set(&[run], |tests| suite_summary(&tests[..1]));
    let (above, steps) = said.split_once("Next: ").unwrap_or_else(|| panic!("no step in {said}"));
    assert!(steps.contains("End the other programs"), "{said}");
    assert!(above.starts_with("PASS  1 of 1") && above.contains("(top: rustc 40 %)"), "{said}");
}

#[test]
fn a_set_says_what_has_no_room_whatever_its_verdict() {
    let mut short = super::too_small();
    short.start.settings.thresholds.minimum_measure_ns = u64::MAX;
    let (said, text) =
        with_set(&[short], |tests| (suite_summary(tests), render_suite(TEXT, tests)));
    let text = text.split("Tests\n-----").next().unwrap().split_whitespace().collect::<Vec<_>>();
    for head in [said, text.join(" ")] {
        assert!(head.contains("CANNOT JUDGE, TOO SMALL "), "{head}");
        assert!(head.contains("Warning: Mailboxes that have room 1,117, at least 1,200"), "{head}");
    }
}

#[test]
fn a_set_gives_the_next_steps_of_its_worst_test_in_every_form() {
    let (good, bad) = (backup(), failing());
    let expected = crate::next::steps(&bad, &judge(&bad));
    let runs = [good, bad];
    let json: Value =
        serde_json::from_str(&with_set(&runs, |tests| render_suite(ReportForm::Json, tests)))
            .unwrap();
    let told: Vec<&str> =
        json["next_steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
    let named: Vec<String> = expected.iter().map(|step| format!("Performance: {step}")).collect();
    assert_eq!(told, named);
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(with_set(&runs, |tests| render_suite(TEXT, tests)));
    let page = with_set(&runs, |tests| render_suite(ReportForm::Page, tests));
    assert!(text.contains(&named[0]), "{} is not in\n{text}", named[0]);
    assert!(page.contains("id=\"what-follows\"") && page.contains("Next step"));
}

#[test]
fn a_set_that_ended_early_names_the_command_of_each_missing_test() {
    let steps = |set: &[RunRecord]| -> Vec<String> {
        let said = with_set(set, suite_summary);
        said.lines().filter(|line| line.starts_with("Next: ")).map(str::to_owned).collect()
    };
    let mut cut = passing();
    cut.finished = None;
    cut.attachments.insert(
        0,
        record::Attached {
            at_ns: 1,
            database: 0,
            log_signature: String::new(),
            place: record::LogPlace::default(),
        },
    );
    let told = steps(&[cut]);
    let resumed = "Next: Performance: Complete it while nothing else has opened its databases, or \
                   start it again (plimsoll run plan.toml --output set/1-test-2): plimsoll run \
                   --resume set/1-test";
    let missing = "Next: Stress: Run it, and then report the whole set (plimsoll report set): \
                   plimsoll run plan.toml --test stress --output set/4-stress";
    assert_eq!(told, [resumed, missing]);
    assert!(steps(&[failing()]).iter().all(|step| !step.contains("Stress: ")), "it is damaged");
}

/// The set that is running makes the tests that it still lacks.
#[test]
fn a_set_that_still_runs_names_no_command_of_its_later_tests() {
    let run = passing();
    let verdict = judge(&run);
    let said = |of_stress, of_backup| {
        let tests = [(TestType::Stress, of_stress), (TestType::Backup, of_backup)];
        let [stress, backup] = tests.map(|(kind, why)| SuiteTest {
            kind,
            folder: kind.name().to_owned(),
            measured: Err(why),
        });
        let folder = "1-performance".to_owned();
        let measured = Ok((&run, &verdict));
        suite_summary(&[SuiteTest { kind: run.start.test, folder, measured }, stress, backup])
    };
    let over = said(Unmeasured::Unrecorded, Unmeasured::Unrecorded);
    assert!(over.contains("Next: Stress: Run it"), "{over}");
    let live = said(Unmeasured::Running, Unmeasured::Waiting);
    assert!(!live.contains(": Run it"), "{live}");
    for part in ["STILL RUNNING  1 of 3 tests passed so far", "Stress: it is still running."] {
        assert!(live.contains(part), "{part} is not in\n{live}");
    }
    assert!(!live.contains("CANNOT JUDGE") && !live.contains(": Not run"), "{live}");
}

#[test]
fn a_step_that_several_tests_ask_for_is_said_once_for_the_set() {
    let loads = |measure_intervals: u64| {
        [(TestType::Performance, "performance"), (TestType::Stress, "stress")].map(
            |(test, kind)| {
                let mut run = Synthetic { measure_intervals, ..Synthetic::default() }.run();
                run.start.test = test;
                run.start.options = vec![("--test".to_owned(), kind.to_owned())];
                run.start.settings.measure_ns = measure_intervals * 15_000_000_000;
                for database in &mut run.start.databases {
                    database.initial_bytes = 64 << 30;
                }
                run
            },
        )
    };
    let runs = loads(1);
    let said = with_set(&runs, suite_summary);
    let next: Vec<&str> = said.lines().filter(|line| line.starts_with("Next: ")).collect();
    assert_eq!(next.len(), 1, "{said}");
    let together = "Next: Performance, Stress: Measure for longer, until enough is seen for a \
                    verdict: plimsoll run plan.toml --test all --duration performance=";
    assert!(next[0].starts_with(together) && next[0].contains(",stress="), "{}", next[0]);
    // Tests that passed are kept, so the third one is due.
    let said = with_set(&loads(240), suite_summary);
    assert!(said.contains("--test all") && said.contains(": Run it, and then report"), "{said}");
    // Damage in both tests leads to one step.
    let mut both = [failing(), failing()];
    both[1].start.test = TestType::Stress;
    let said = with_set(&both, suite_summary);
    let mut next: Vec<&str> = said.lines().filter(|line| line.starts_with("Next: ")).collect();
    assert!(next.iter().all(|line| line.starts_with("Next: Performance, Stress: ")), "{said}");
    let all = next.len();
    next.dedup();
    assert_eq!(next.len(), all, "{said}");
}

#[test]
fn sets_with_databases_that_grew_have_them_made_alike() {
    let grown = |run: &mut RunRecord| {
        run.start.databases.truncate(2);
        for database in &mut run.start.databases {
            database.initial_bytes *= 2;
        }
    };
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(with_changed_sets(grown, |sets| render_suites(TEXT, sets)));
    let advice = "`plimsoll prepare --reset plan.toml` before each makes them alike";
    assert_eq!(text.matches(advice).count(), 1, "{text}");
    assert!(!with_two_sets(|sets| render_suites(TEXT, sets)).contains("prepare --reset"));
    let other_plan = |run: &mut RunRecord| {
        grown(run);
        run.start.command = "plimsoll run other.toml".to_owned();
    };
    let text = words(with_changed_sets(other_plan, |sets| render_suites(TEXT, sets)));
    let advice = "`plimsoll prepare --reset plan.toml` or `plimsoll prepare --reset other.toml` \
                  before its run makes them alike";
    assert!(text.contains(advice), "{text}");
}
