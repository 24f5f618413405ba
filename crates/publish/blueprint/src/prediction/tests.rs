//! Rankings of simulated runs.

use record::synthetic::Synthetic;
use record::{RunRecord, Simulation};
use report::{ReportForm, TEXT_WIDTH};

use super::{PredictedArray, Prediction, ranked_predictions, render_predictions};

const TEXT: ReportForm = ReportForm::Text { width: TEXT_WIDTH };

fn prediction(name: &str, run: &RunRecord) -> Prediction {
    let verdict = verdict::judge(run);
    let changes = vec![("raid.level".to_owned(), name.to_owned())];
    Prediction::of(changes, (run, &verdict), format!("what-if-{name}"))
}

fn simulated(run: &Synthetic) -> RunRecord {
    let mut run = run.run();
    let array = "shelf".to_owned();
    run.start.simulated = Some(Box::new(Simulation { array, ..Simulation::default() }));
    run
}

#[test]
fn what_passes_comes_before_what_fails_and_everything_says_that_it_is_simulated() {
    let slow = simulated(&Synthetic { spike: Some(2), ..Synthetic::default() });
    let good = simulated(&Synthetic::default());
    let ranked = ranked_predictions(vec![prediction("5", &slow), prediction("10", &good)]);
    assert!(ranked.iter().map(PredictedArray::name).eq(["raid.level=10", "raid.level=5"]));
    let steps = ["Simulate the best array at length: plimsoll simulate".to_owned()];
    let text = render_predictions(TEXT, &ranked, &steps);
    assert!(text.contains("Next step") && text.contains(&steps[0]), "{text}");
    assert!(text.contains("SIMULATED PASS") && text.contains("the best is raid.level=10"));
    assert!(text.contains("1 of 2 simulated arrays carries this load"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&render_predictions(ReportForm::Json, &ranked, &steps)).expect("JSON");
    assert_eq!(json["next_steps"][0], steps[0]);
    assert_eq!(json["simulated"], "shelf");
    assert_eq!(json["predictions"][0]["verdict"], "simulated_pass");
    assert_eq!(json["predictions"][1]["verdict"], "simulated_fail");
    assert_eq!(json["predictions"][1]["rank"], 2);
}

/// A faster rotation alone leaves the seeks of the slower disk.
#[test]
fn a_changed_rotation_is_said_to_keep_the_seek_times() {
    let rpm = ("disk.rpm", "15000");
    let seek = ("disk.seek_average_ms", "3.5");
    let level = ("raid.level", "1/0");
    for (changes, is_said) in [(vec![rpm], true), (vec![rpm, seek], false), (vec![level], false)] {
        let changes = changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let run = prediction("5", &simulated(&Synthetic::default()));
        let all = ranked_predictions(vec![Prediction { changes: changes.collect(), ..run }]);
        let text = render_predictions(TEXT, &all, &[]);
        assert_eq!(text.contains("Only the rotation differs"), is_said, "{text}");
    }
}

/// Faster reads at a lower rate do not count as long as the target is missed.
#[test]
fn the_higher_rate_comes_first_until_the_target_is_reached_then_the_faster_reads() {
    let few = Synthetic { databases: 1, ..Synthetic::default() };
    let many = Synthetic { read_median_ns: 9_500_000, ..Synthetic::default() };
    for (target, best) in [(10_000.0, "raid.level=10"), (100.0, "raid.level=5")] {
        let runs = [("5", &few), ("10", &many)].map(|(name, run)| {
            let mut run = simulated(run);
            run.start.settings.target_iops = Some(target);
            prediction(name, &run)
        });
        let ranked = ranked_predictions(runs.to_vec());
        assert_eq!(ranked[0].name(), best, "{target}");
    }
}

/// Runs that differ only in their seeds are one array, which is rated by the worst of them.
#[test]
fn seeds_of_an_array_make_one_row_with_its_interval() {
    let runs = [1, 2, 3].map(|seed| {
        let seed = units::Seed(seed);
        prediction("10", &simulated(&Synthetic { seed, ..Synthetic::default() }))
    });
    let alone = ranked_predictions(runs[..1].to_vec());
    let mut runs = runs.to_vec();
    let slow = simulated(&Synthetic { spike: Some(2), ..Synthetic::default() });
    runs.push(prediction("5", &slow));
    let ranked = ranked_predictions(runs.clone());
    assert_eq!((alone.len(), ranked.len()), (1, 2));
    assert_eq!(alone[0].iops().and_then(|of| of.half_width), None);
    let seeded = ranked.iter().find(|of| of.name() == "raid.level=10");
    let half = seeded.and_then(|of| of.read_ms()?.half_width);
    assert!(half.is_some_and(|half| half > 0.0), "{half:?}");
    let text = render_predictions(TEXT, &ranked, &[]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("IOPS of the best, mean of 3 seeds"), "{text}");
    assert!(words.contains("means of 3 seeds; +- is"), "{text}");
    runs.push(prediction("10", &slow));
    let text = render_predictions(TEXT, &ranked_predictions(runs), &[]);
    assert!(text.contains("Fail, 1 of ") && text.contains("4 seeds"), "{text}");
}

/// Of two arrays without a verdict, the one with faster reads writes its log too slowly already.
#[test]
fn an_array_beyond_a_limit_is_not_the_best_of_those_without_a_verdict() {
    let usual = Synthetic::default();
    let fast_reads = usual.read_median_ns / 2;
    let slow_log = Synthetic {
        read_median_ns: fast_reads,
        log_write_median_ns: 12_000_000,
        ..Synthetic::default()
    };
    let runs = [("through", &slow_log), ("back", &usual)].map(|(name, run)| {
        let mut run = simulated(run);
        run.start.settings.thresholds.minimum_log_writes = u64::MAX;
        prediction(name, &run)
    });
    let ranked = ranked_predictions(runs.to_vec());
    assert!(ranked.iter().all(|one| one.ruling() == verdict::Ruling::CannotJudge));
    assert_eq!(ranked[0].name(), "raid.level=back");
}

#[test]
fn what_cannot_be_judged_says_why() {
    let mut short = simulated(&Synthetic::default());
    short.start.settings.thresholds.minimum_log_writes = u64::MAX;
    let reason = prediction("10", &short).figures.reason;
    assert!(
        reason.contains("Log write latency, mean of the worst database: ")
            && reason.contains("at least"),
        "{reason}"
    );
}

/// Page, text, CSV and JSON have the disks of all arrays, under a heading that says so.
#[test]
fn disks_of_a_ranking_are_those_in_all() {
    let good = simulated(&Synthetic::default());
    let run = Prediction { disks: Some(60), survived: Some(0), ..prediction("0", &good) };
    let ranked = ranked_predictions(vec![run]);
    let [text, page, csv, json] = [TEXT, ReportForm::Page, ReportForm::Csv, ReportForm::Json]
        .map(|form| render_predictions(form, &ranked, &[]));
    let row = text.lines().find(|line| line.contains("raid.level=0 ")).expect("a row");
    assert!(text.contains("Disks") && text.contains("In All"), "{text}");
    assert!(row.split_whitespace().any(|cell| cell == "60") || text.contains("  60  "), "{text}");
    assert!(page.contains("Disks In All") && page.contains(">60<"));
    assert!(csv.lines().nth(1).is_some_and(|row| row.split(',').any(|cell| cell == "60")), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["predictions"][0]["disks"], 60);
    assert!(text.contains("1 of 1 simulated array carries this load"), "{text}");
}

/// The fastest reads by a few percent are no better, within the error of the model, and their log
/// writes are slower by far.
#[test]
fn the_best_array_is_one_of_the_trade_offs() {
    let of = |name: &str, read_ms, log_write_ms, margin| {
        let mut one = prediction(name, &simulated(&Synthetic::default()));
        let figures = &mut one.figures;
        (figures.read_ms, figures.log_write_ms) = (Some(read_ms), Some(log_write_ms));
        (figures.margin_percent, figures.uncertainty_percent) = (Some(margin), 25.0);
        Prediction { disks: Some(64), survived: Some(1), ..one }
    };
    let runs =
        vec![of("wt", 4.68, 6.83, 32.0), of("wb", 4.88, 0.1, 76.0), of("5", 5.21, 0.1, 74.0)];
    let ranked = ranked_predictions(runs);
    assert!(
        ranked
            .iter()
            .map(PredictedArray::name)
            .eq(["wb", "wt", "5"].map(|name| { format!("raid.level={name}") }))
    );
    let text = render_predictions(TEXT, &ranked, &[]);
    assert!(text.contains("the best is raid.level=wb"), "{text}");
    let trade_offs = text.split("Best Trade-Offs").nth(1).expect("trade-offs");
    assert!(trade_offs.contains("   1  raid.level=wb"), "{trade_offs}");
    assert!(trade_offs.contains("the fewest disks first"), "{trade_offs}");
}
