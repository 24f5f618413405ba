//! Several runs on one page: the changes against the first, their size, and whether they exceed the
//! noise.

mod changes;
mod data;
pub(crate) mod glance;
mod pictures;
mod tables;
mod winner;

pub(crate) use changes::meaning;

use std::collections::BTreeSet;

use record::Phase;
use verdict::{NamedRun, Ruling, RunComparison, Significance};

use crate::document::{Banner, Block, Document, Section, Tone};
use crate::imported::words;
use crate::meaning::{objection, why_not_judged};
use crate::sections::summary::names;
use crate::{ReportForm, format, listed};

/// Letters of the runs in tables, in their order.
pub(crate) const LETTERS: [&str; 26] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S",
    "T", "U", "V", "W", "X", "Y", "Z",
];

/// Most runs on one page.
pub const MOST_RUNS: usize = LETTERS.len();

/// Names of the runs in a comparison: their own if all differ, else `fallbacks`, the names of their
/// folders.
pub fn comparison_names(own: &[&str], fallbacks: Vec<String>) -> Vec<String> {
    let others: BTreeSet<&str> = own.iter().copied().filter(|name| !name.is_empty()).collect();
    if others.len() == own.len() {
        return own.iter().map(|name| (*name).to_owned()).collect();
    }
    fallbacks
}

/// The comparison in a form; as comma-separated values, one line for each metric of each run.
pub fn render_comparison(
    form: ReportForm,
    runs: &[NamedRun],
    comparison: &RunComparison,
) -> String {
    form.render(
        || document(runs, comparison),
        || data::json(runs, comparison),
        || data::csv(runs, comparison),
    )
}

/// The comparison as plain text.
#[cfg(test)]
pub(crate) fn comparison_text(runs: &[NamedRun], comparison: &RunComparison) -> String {
    render_comparison(ReportForm::Text { width: crate::TEXT_WIDTH }, runs, comparison)
}

/// The members of the JSON of a comparison.
pub(crate) fn members(runs: &[NamedRun], comparison: &RunComparison) -> serde_json::Value {
    data::members(runs, comparison)
}

pub(crate) fn document(runs: &[NamedRun], comparison: &RunComparison) -> Document {
    let mut side_by_side = vec![tables::runs(runs)];
    side_by_side.extend((1..runs.len()).map(|index| tables::changes(runs, comparison, index)));
    side_by_side.push(Block::Note(HOW_TO_READ.to_owned()));
    let mut sections = vec![
        glance::section(runs, comparison, rest_of_answer(runs, comparison)),
        Section { id: "side-by-side", title: "Side by Side", blocks: side_by_side },
    ];
    sections.extend(pictures::section(runs, comparison.phase));
    sections.push(tables::differences(runs, comparison));
    let names = runs.iter().flat_map(|run| names(&run.record.start));
    let names = runs.iter().map(|run| run.name.clone()).chain(names).collect();
    Document { banner: banner(runs, comparison), sections, names }
}

/// Note below the tables.
const HOW_TO_READ: &str = "A change counts as real if it exceeds its margin, which combines the \
    spread between intervals and the spread between repeated runs. All margins of a metric cover \
    the true changes 19 times in 20, so they are wider for several runs than for one. By chance, \
    one metric in 20 may count as real.";

fn banner(runs: &[NamedRun], comparison: &RunComparison) -> Banner {
    let others: Vec<&str> = runs[1..].iter().map(|run| run.name.as_str()).collect();
    let is_load = comparison.phase == Phase::Measure;
    let (number, of_runs) = numbers(runs, comparison);
    let unit = if is_load { "IOPS" } else { "MiB/s" };
    Banner {
        subject: format!("{} beside {}", runs[0].name, others.join(", ")),
        started: words::started(&runs[0].record),
        verdict: verdict(runs, comparison),
        tone: if comparison.doubts.is_empty() { Tone::Plain } else { Tone::Warn },
        number,
        number_unit: format!("{unit} measured in {of_runs}").into(),
        number_metric: if is_load { "achieved-transactional-iops" } else { "checksum-reads-rate" },
        meaning: answer(runs, comparison),
        figures: Vec::new(),
    }
}

/// The main number of each of two runs, or the range of more, and which runs they are.
fn numbers(runs: &[NamedRun], comparison: &RunComparison) -> (String, String) {
    let shown = comparison.rows.first().map_or(&[][..], |row| &row.values);
    if let [first, other] = shown {
        let [first, other] = [first, other].map(|of| or_dash(of.value));
        return (format!("{first} and {other}"), "A and B".to_owned());
    }
    let values = shown.iter().filter_map(|of| of.value);
    let (least, most) = (values.clone().reduce(f64::min), values.reduce(f64::max));
    (format!("{} to {}", or_dash(least), or_dash(most)), format!("{} runs", runs.len()))
}

fn or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), format::three_digits)
}

/// The answer in a few words, after a warning if the numbers may mislead.
fn verdict(runs: &[NamedRun], comparison: &RunComparison) -> String {
    if (1..runs.len()).all(|index| has_imported(runs, index)) {
        return "No margins: imported".to_owned();
    }
    let real: usize = (1..runs.len()).map(|index| changes::real(comparison, index).count()).sum();
    let differences = match real {
        0 if is_too_short(comparison) => "too few intervals to tell a difference".to_owned(),
        0 => "no real difference".to_owned(),
        1 => "1 real difference".to_owned(),
        count => format!("{count} real differences"),
    };
    let won = winner::winner(runs, comparison);
    let carries = won.map(|won| winner::sentence(runs, won));
    let outcomes: Vec<Ruling> = runs.iter().map(|run| run.verdict.outcome).collect();
    let answer = match (only_passing(&outcomes), of_one_outcome(&outcomes), &carries) {
        (Some(place), _, Some(carries)) if won.is_some_and(|won| won.place == place) => {
            format!("{carries}; only {} passes", LETTERS[place])
        }
        (Some(place), _, _) => format!("only {} passes", LETTERS[place]),
        (None, Some(outcome), Some(carries)) => format!("{carries}; {outcome}"),
        (None, None, Some(carries)) => carries.clone(),
        (None, Some(outcome), None) => format!("{outcome}, {differences}"),
        (None, None, None) => differences,
    };
    if comparison.doubts.is_empty() {
        return if carries.is_some() { answer } else { upper_first(&answer) };
    }
    if is_only_simulated(runs, comparison) {
        return format!("Simulated: {answer}");
    }
    match (carries, comparison.doubts.len()) {
        (None, _) => match other_work(comparison) {
            Some(names) => format!("Not the same work: {names}"),
            None => format!("Doubtful: {answer}"),
        },
        (Some(_), 1) => format!("{answer}, with 1 caveat"),
        (Some(_), count) => format!("{answer}, with {count} caveats"),
    }
}

/// The names of the differences in work, if there are any.
fn other_work(comparison: &RunComparison) -> Option<String> {
    let names: Vec<&str> =
        comparison.differences.iter().filter(|of| of.is_work).map(|of| of.name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Whether no change has a margin.
fn is_too_short(comparison: &RunComparison) -> bool {
    let values = comparison.rows.iter().flat_map(|row| &row.values);
    let mut changes = values.filter_map(|value| value.change);
    changes.all(|change| change.significance() == Significance::Unknown)
}

/// Whether the only doubts are that the runs were simulated: each was judged within its model's
/// error.
fn is_only_simulated(runs: &[NamedRun], comparison: &RunComparison) -> bool {
    let are_simulated = runs.iter().all(|run| run.record.simulated().is_some());
    are_simulated && comparison.doubts.len() == runs.len()
}

/// The only run that passes, which a buyer asks for first. `None` if any run is inconclusive, since
/// it may support the load too.
pub(crate) fn only_passing(outcomes: &[Ruling]) -> Option<usize> {
    if outcomes.contains(&Ruling::CannotJudge) {
        return None;
    }
    let mut passing = outcomes.iter().enumerate().filter(|(_, outcome)| **outcome == Ruling::Pass);
    let (place, _) = passing.next()?;
    passing.next().is_none().then_some(place)
}

/// The common outcome, if all runs have the same one: then the differences decide.
pub(crate) fn of_one_outcome(outcomes: &[Ruling]) -> Option<&'static str> {
    let are_two = outcomes.len() == 2;
    if outcomes.iter().all(|outcome| *outcome == Ruling::Pass) {
        return Some(if are_two { "both pass" } else { "all pass" });
    }
    let all_fail = outcomes.iter().all(|outcome| *outcome == Ruling::Fail);
    all_fail.then_some(if are_two { "neither passes" } else { "none passes" })
}

/// Result of each run, doubts, and changes against the first.
fn answer(runs: &[NamedRun], comparison: &RunComparison) -> Vec<String> {
    let mut sentences: Vec<String> =
        runs.iter().zip(LETTERS).map(|(run, letter)| came_to(run, letter)).collect();
    match comparison.doubts.len() {
        0..=MOST_DOUBTS => sentences.extend(doubts(comparison)),
        count => sentences.push(format!("See {count} caveats below.")),
    }
    sentences.extend(reset_advice(runs));
    if runs.len() == 2 {
        sentences.push(meaning(runs, comparison, 1));
    }
    sentences
}

/// A ratio of database sizes above this means that databases were filled at different times, or
/// grew between the runs.
const GROWN: f64 = 1.25;

/// How to make the databases of the runs equal in size again, with the plan of each. `None` if they
/// are equal, a plan is unknown, or a run was not measured here.
pub(crate) fn reset_advice(runs: &[NamedRun]) -> Option<String> {
    let first = &runs[0].record;
    let count = first.start.databases.len();
    let are_ours = runs.iter().map(|run| &run.record).all(|run| {
        let is_measured = run.imported().is_none() && run.simulated().is_none();
        is_measured && run.start.databases.len() == count
    });
    let sizes = runs.iter().map(|run| {
        let databases = run.record.start.databases.iter();
        databases.map(|database| database.initial_bytes).sum::<u64>() as f64
    });
    let (least, most) =
        sizes.fold((f64::MAX, 0.0_f64), |(least, most), size| (least.min(size), most.max(size)));
    let plans: Option<Vec<&str>> = runs.iter().map(plan_of).collect();
    let mut commands = Vec::new();
    for plan in plans.filter(|_| are_ours && most > least * GROWN)? {
        let command = format!("`plimsoll prepare --reset {plan}`");
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    let each = if commands.len() > 1 { "its run" } else { "each" };
    let commands = commands.join(" or ");
    Some(format!("Databases grow with every run: {commands} before {each} makes them alike."))
}

/// The plan that a run was started with, as its command names it.
fn plan_of(run: &NamedRun) -> Option<&str> {
    run.record.start.command.strip_prefix("plimsoll run ")
}

/// More doubts than these would push the numbers off the first screen.
const MOST_DOUBTS: usize = 2;

/// Overflow of the answer: the doubts if there are too many, and the changes of more than two runs.
fn rest_of_answer(runs: &[NamedRun], comparison: &RunComparison) -> Vec<String> {
    let are_many = comparison.doubts.len() > MOST_DOUBTS;
    let doubts = doubts(comparison).filter(|_| are_many);
    let others = if runs.len() == 2 { 0..0 } else { 1..runs.len() };
    doubts.chain(others.map(|index| meaning(runs, comparison, index))).collect()
}

fn doubts(comparison: &RunComparison) -> impl Iterator<Item = String> {
    comparison.doubts.iter().map(|doubt| format!("Doubt: {doubt}"))
}

/// The verdict on a run and its reasons, since a change between runs does not show whether limits
/// hold.
fn came_to(run: &NamedRun, letter: &str) -> String {
    let verdict = listed::verdict_name(&run.record, &run.verdict);
    let reasons = match run.verdict.outcome {
        _ if run.record.imported().is_some() => Vec::new(),
        Ruling::Fail => match run.verdict.objections().first() {
            Some(finding) => vec![objection(&run.record, finding)],
            None => Vec::new(),
        },
        Ruling::CannotJudge => why_not_judged(&run.record, &run.verdict),
        Ruling::Pass | Ruling::Warn => Vec::new(),
    };
    let name = lettered(letter, &run.name);
    [vec![format!("{name}: {verdict}.")], reasons].concat().join(" ")
}

/// A letter with the name of its run.
pub(crate) fn lettered(letter: &str, name: &str) -> String {
    format!("{letter} ({name})")
}

/// Whether the first run or the one at `index` was not measured here.
fn has_imported(runs: &[NamedRun], index: usize) -> bool {
    [0, index].iter().any(|&at| runs[at].record.imported().is_some())
}

pub(crate) fn upper_first(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect()
}
