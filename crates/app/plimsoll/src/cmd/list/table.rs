//! The runs as a table: a line for each, or two on a terminal that is too narrow for one.

use std::path::Path;

use record::Series;
use report::format::{iso_time, number};
use report::{SUITE_PARTS, achieved_iops, backup_mib_per_second, mean_ms};
use units::three_digits;

use super::entry::{ListedEntry, ListedSet};
use super::fleets::ListedFleet;
use super::listed::{CutOff, ListedRun};
use console::Console;
use console::error::CommandError;
use console::shell::shell_word;

/// Titles of the columns before the name.
const FIGURES: [&str; 5] = [STARTED, "Verdict", "IOPS", "Read ms", "Log ms"];

/// Title of the first column.
const STARTED: &str = "Started, UTC";

/// The same if a simulation is listed: its clock always starts at the same time, so that the list
/// has the time when its record was written.
const STARTED_OR_MADE: &str = "Started/made UTC";

/// Usual width of a verdict in characters.
const VERDICT: usize = 16;

/// Usual width of a verdict and a rate on a terminal of 60 columns: a long one of either takes what
/// the other leaves.
const NARROW: usize = VERDICT + 1 + RATE;

/// Width of a rate in characters.
const RATE: usize = 9;

/// Spaces before the second line of a run.
const INDENT: usize = 4;

/// A run or a set in the columns of the table.
struct RunRow {
    figures: [String; 5],
    name: String,
    /// Folder and tags; indented for a test in a set.
    place: String,
    /// How an interrupted run can be completed, or why it cannot.
    remark: Option<String>,
}

pub(super) fn print(
    entries: &[ListedEntry],
    below: &Path,
    console: &mut Console,
) -> Result<(), CommandError> {
    if entries.is_empty() {
        return console.remark(format_args!("No runs found in {}.", below.display()));
    }
    let rows: Vec<RunRow> = entries.iter().flat_map(rows).collect();
    let longest = rows.iter().map(|row| row.figures[1].chars().count()).max().unwrap_or(0);
    let verdict = longest.max(VERDICT);
    let widest = rows.iter().map(|row| row.whole(verdict).chars().count()).max().unwrap_or(0);
    let titles = titles(entries).map(str::to_owned);
    if console.columns().is_none_or(|columns| widest <= columns) {
        let figures = wide(&titles, verdict);
        console.answer(format_args!("{figures}  Name              Run"))?;
        for row in &rows {
            console.answer(row.whole(verdict))?;
            row.print_remark(console)?;
        }
        return Ok(());
    }
    console.answer(narrow(&titles))?;
    console.answer(format_args!("{:INDENT$}Name  Run", ""))?;
    for row in &rows {
        let RunRow { figures, name, place, .. } = row;
        console.answer(narrow(figures))?;
        console.answer_folded(format_args!("{:INDENT$}{name}  {place}", ""), INDENT)?;
        row.print_remark(console)?;
    }
    Ok(())
}

/// Titles of the columns above these entries.
fn titles(entries: &[ListedEntry]) -> [&'static str; 5] {
    let mut titles = FIGURES;
    if entries.iter().any(|entry| first_of(entry).record.simulated().is_some()) {
        titles[0] = STARTED_OR_MADE;
    }
    titles
}

/// The run whose time the entry shows.
fn first_of(entry: &ListedEntry) -> &ListedRun {
    match entry {
        ListedEntry::Run(run) => run,
        ListedEntry::Set(set) => set.first(),
        ListedEntry::Fleet(fleet) => fleet.first(),
    }
}

impl RunRow {
    /// The whole row in one line.
    fn whole(&self, verdict: usize) -> String {
        format!("{}  {:<16}  {}", wide(&self.figures, verdict), self.name, self.place)
    }

    fn print_remark(&self, console: &mut Console) -> Result<(), CommandError> {
        let Some(remark) = &self.remark else { return Ok(()) };
        console.answer_folded(format_args!("{:INDENT$}{remark}", ""), INDENT)
    }
}

fn rows(entry: &ListedEntry) -> Vec<RunRow> {
    match entry {
        ListedEntry::Run(run) => vec![of_run(run, "")],
        ListedEntry::Set(set) => {
            let tests = set.tests.iter().map(|run| of_run(run, "  "));
            std::iter::once(of_set(set)).chain(tests).collect()
        }
        ListedEntry::Fleet(fleet) => {
            let hosts = fleet.hosts.iter().filter(|_| !fleet.is_played());
            let hosts = hosts.map(|run| of_run(run, "  "));
            std::iter::once(of_fleet(fleet)).chain(hosts).collect()
        }
    }
}

fn of_fleet(fleet: &ListedFleet) -> RunRow {
    let verdict = fleet.verdict_word().to_owned();
    let iops = Some(fleet.iops()).filter(|&iops| iops > 0.0);
    let iops = iops.map_or_else(|| "-".to_owned(), |iops| number(iops, 0));
    RunRow {
        figures: [started(fleet.first()), verdict, iops, String::new(), String::new()],
        name: fleet.name().to_owned(),
        place: fleet.folder.display().to_string(),
        remark: None,
    }
}

fn of_set(set: &ListedSet) -> RunRow {
    let first = set.first();
    RunRow {
        figures: [started(first), set.verdict_word(), set.passed(), String::new(), String::new()],
        name: name(first),
        place: place(&set.folder, first),
        remark: rest_of(set),
    }
}

/// How to complete a set that ended before its last test.
fn rest_of(set: &ListedSet) -> Option<String> {
    let missing = SUITE_PARTS.len() - set.tests.len();
    let folder = shell_word(&set.folder);
    let of = format!("{missing} of {} tests were not run", SUITE_PARTS.len());
    (missing > 0 && !set.is_live())
        .then(|| format!("{of}; plimsoll report {folder} prints how to complete it"))
}

fn of_run(run: &ListedRun, indent: &str) -> RunRow {
    let iops = achieved_iops(&run.record).map(|iops| number(iops, 0));
    let mebibytes = backup_mib_per_second(&run.record);
    let mebibytes = mebibytes.map(|rate| format!("{} MiB/s", three_digits(rate)));
    let figures = [
        started(run),
        run.verdict_word(),
        iops.or(mebibytes).unwrap_or_else(|| "-".to_owned()),
        milliseconds(mean_ms(&run.record, Series::DatabaseRead)),
        milliseconds(mean_ms(&run.record, Series::LogWrite)),
    ];
    RunRow {
        figures,
        name: name(run),
        place: format!("{indent}{}", place(&run.folder, run)),
        remark: remark(run),
    }
}

fn remark(run: &ListedRun) -> Option<String> {
    if run.is_replaced {
        return Some(report::REPLACED.to_owned());
    }
    run.cut.as_ref().map(|cut| match cut {
        CutOff::Resumable(command) => format!("complete it: {command}"),
        CutOff::Lost(why) => why.clone(),
    })
}

fn started(run: &ListedRun) -> String {
    run.began_ns().and_then(iso_time).map_or("-".to_owned(), |time| {
        let text: String = time.chars().take(16).collect();
        text.replace('T', " ")
    })
}

fn wide([started, verdict, rate, read, log]: &[String; 5], width: usize) -> String {
    format!("{started:<16}  {verdict:<width$}  {rate:>RATE$}  {read:>7}  {log:>7}")
}

fn narrow([started, verdict, rate, read, log]: &[String; 5]) -> String {
    let [word, number, mean] = [verdict, rate, read].map(|part| part.chars().count());
    let left = NARROW.saturating_sub(word).max(number + 1);
    let rest = (NARROW + 8).saturating_sub(word + left).max(mean + 1);
    format!("{started:<16} {verdict}{rate:>left$}{read:>rest$} {log:>7}")
}

/// Folder and tags.
fn place(folder: &Path, run: &ListedRun) -> String {
    let folder = folder.display();
    match run.record.start.tags.join(", ") {
        tags if tags.is_empty() => folder.to_string(),
        tags => format!("{folder}  [{tags}]"),
    }
}

fn name(run: &ListedRun) -> String {
    match run.record.start.name.as_str() {
        "" => "-".to_owned(),
        name => name.to_owned(),
    }
}

fn milliseconds(mean: Option<f64>) -> String {
    mean.map_or("-".to_owned(), |mean| format!("{mean:.3}"))
}

#[cfg(test)]
mod tests {
    use record::Simulation;
    use record::synthetic::Synthetic;

    use super::{ListedEntry, ListedRun, STARTED, STARTED_OR_MADE, narrow, titles};

    #[test]
    fn a_row_of_a_narrow_terminal_has_room_for_the_rate_of_a_backup() {
        let row = |verdict: &str, rate: &str| {
            narrow(&["2026-11-30 15:31", verdict, rate, "12.345", "-"].map(str::to_owned))
        };
        let rows = [
            row("Verdict", "IOPS"),
            row("Cannot judge", "1,219 MiB/s"),
            row("Pass, not steady", "1,234,567"),
        ];
        for row in rows {
            assert_eq!(row.chars().count(), 59, "{row}");
        }
        let long = row("Cannot judge, too small", "23,111");
        assert!(long.contains("too small 23,111 12.345 "), "{long}");
    }

    #[test]
    fn the_time_of_a_simulation_is_not_called_its_start() {
        let listed = |simulated: Option<Simulation>| {
            let mut record = Synthetic::default().run();
            record.start.simulated = simulated.map(Box::new);
            ListedEntry::Run(Box::new(ListedRun::made("a", record)))
        };
        assert_eq!(titles(&[listed(None)])[0], STARTED);
        let both = [listed(None), listed(Some(Simulation::default()))];
        assert_eq!(titles(&both)[0], STARTED_OR_MADE);
    }
}
