//! Decisions of a run so far: the loads that the tuner has tried, its final choice, and the rest of
//! the test log.

use record::{LogLine, Phase, RunRecord};
use serde_json::{Value, json};

use super::{Given, seconds};

/// Maximum number of lines sent to a page at once; for a longer log, the newest.
const MOST_LINES: usize = 200;

/// The lines since `given`, each with its time since the start of the run and whether the tuner
/// wrote it.
pub(super) fn since(run: &RunRecord, given: Given) -> Vec<Value> {
    let first = given.lines.max(run.log.len().saturating_sub(MOST_LINES));
    run.log.get(first..).unwrap_or_default().iter().map(|line| shown(run, line)).collect()
}

fn shown(run: &RunRecord, line: &LogLine) -> Value {
    json!({
        "at_s": seconds(line.at_ns),
        "text": line.text,
        "is_tuner": is_of_tuner(run, line.at_ns),
    })
}

fn is_of_tuner(run: &RunRecord, at_ns: u64) -> bool {
    let mut spans = run.phases.iter().filter(|span| span.phase == Phase::Tune);
    spans.any(|span| span.from_ns <= at_ns && span.to_ns.is_none_or(|to_ns| at_ns < to_ns))
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{LogLine, Phase, PhaseSpan};

    use super::{Given, MOST_LINES, since};

    #[test]
    fn lines_come_once_and_those_of_the_tuner_are_told_apart() {
        let mut run = Synthetic::default().run();
        run.phases.push(PhaseSpan { phase: Phase::Tune, from_ns: 5, to_ns: Some(9) });
        let line = |at_ns| LogLine { at_ns, text: format!("at {at_ns}") };
        run.log = [4, 5, 8, 9].map(line).to_vec();
        let shown = since(&run, Given::default());
        let tuner = shown.iter().map(|line| line["is_tuner"].as_bool().unwrap());
        assert_eq!(tuner.collect::<Vec<bool>>(), [false, true, true, false]);
        let given = Given { lines: 3, ..Given::default() };
        assert_eq!(since(&run, given)[0]["text"], "at 9");
        run.log = (0..500).map(line).collect();
        assert_eq!(since(&run, Given::default()).len(), MOST_LINES);
    }
}
