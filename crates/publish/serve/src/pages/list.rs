//! The list of runs: search, selection for a comparison, and the plans that can be started.

use std::fmt::Write as _;

use report::{REPLACED, escape};

use super::stopped::NO_TOKEN;
use super::{address, fleet, options, page, volume_address};
use crate::FleetState;
use crate::runs::{Known, Listed};
use crate::search;
use crate::sets::{ListEntry, ServedSet};
use crate::summary::RunLine;

/// Forms that need no run.
const QUESTIONS: &str = "<section>\n<h2>Plan ahead</h2>\n\
     <p><a href=\"/size\">Size a deployment</a>: servers, databases and disks for mailboxes.</p>\n\
     <p><a href=\"/simulate\">Simulate arrays</a>: predict a plan's result on a \
     simulated array.</p>\n\
     <p><a href=\"/caches\">Flash caches</a>: what those of this machine answer.</p>\n\
     </section>\n";

/// Shown instead of an empty list.
const NO_RUNS: &str = "<p>No runs found in this folder. To make the first one, test a disk below, \
     or measure it from a terminal in this folder: <code>plimsoll quick DIR</code>.</p>\n";

/// Form that leads from a disk to its first run without an existing plan.
const GUIDE: &str = "<section id=\"guide\">\n<h2>Test a disk</h2>\n\
     <form method=\"post\" action=\"/guide\">\n<div class=\"fields\">\n\
     <p><label for=\"folder\">Folder on the disk, which must exist</label>\
     <input id=\"folder\" name=\"folder\" required placeholder=\"/mnt/disk1\"></p>\n\
     <p><label for=\"guide-size\">Size of the database</label>\
     <input id=\"guide-size\" name=\"size\" required value=\"10GiB\"></p>\n\
     <p><label for=\"guide-duration\">Duration</label>\
     <input id=\"guide-duration\" name=\"duration\" required value=\"2h\"></p>\n\
     <p><label for=\"guide-name\">Name</label>\
     <input id=\"guide-name\" name=\"name\" required placeholder=\"array-a\"></p>\n</div>\n\
     <p><button>Create the database</button></p>\n<p class=\"note\">Writes a plan of this name \
     into the served folder and fills its database; nothing that exists is overwritten. Then the \
     run can start.</p>\n</form>\n</section>\n";

/// Contents of the form in the list that starts runs.
pub(crate) struct StartForm {
    /// The plans of the folder.
    pub plans: Vec<String>,
    /// Kinds of tests.
    pub tests: Vec<&'static str>,
}

/// The runs of a list.
pub(crate) struct RunsShown<'a> {
    /// Runs and sets that match the query.
    pub entries: &'a [ListEntry],
    /// Fleets that match it, with their names in requests.
    pub fleets: &'a [(String, FleetState)],
    /// The words searched for; empty for all runs.
    pub query: &'a str,
    /// Runs, sets and fleets of the folder.
    pub count: usize,
    /// The table of volumes, in HTML.
    pub volumes: &'a str,
}

/// The list, and the start form; without the form if the request lacks the token.
pub(crate) fn list(shown: &RunsShown<'_>, start: Option<&StartForm>) -> String {
    let RunsShown { entries, fleets, query, count, volumes } = *shown;
    let mut body = format!(
        "<main{}>\n{volumes}<h1>Runs</h1>\n<form class=\"search\" role=\"search\" action=\"/\">\n\
         <label for=\"q\">Search</label> <input id=\"q\" name=\"q\" type=\"search\" value=\"{}\">\n\
         <button>Search</button>\n</form>\n",
        if start.is_some() { "" } else { " class=\"read-only\"" },
        escape(query)
    );
    let unread = entries.iter().filter(|entry| is_unread(entry)).count();
    if unread > 0 {
        let _ = writeln!(body, "<p class=\"note\">{unread} more are being read; reload.</p>");
    }
    body.push_str(&fleet::section(fleets));
    if entries.is_empty() && fleets.is_empty() {
        body.push_str(if count == 0 { NO_RUNS } else { "<p>No run matches.</p>\n" });
    } else if !entries.is_empty() {
        push_kinds(&mut body, entries);
    }
    match start {
        Some(start) => {
            push_start(&mut body, start);
            body.push_str(GUIDE);
        }
        None => body.push_str(NO_TOKEN),
    }
    body.push_str(QUESTIONS);
    body.push_str(
        "</main>\n<script src=\"/times.js\"></script>\n<script src=\"/labels.js\"></script>\n",
    );
    page("Runs", &body)
}

fn is_unread(entry: &ListEntry) -> bool {
    let runs = match entry {
        ListEntry::Run(run) | ListEntry::Replaced(run) => std::slice::from_ref(&**run),
        ListEntry::Set(set) => &set.tests,
    };
    runs.iter().any(|run| matches!(run.known, Known::Unread))
}

fn is_simulated(entry: &ListEntry) -> bool {
    let line = match entry {
        ListEntry::Run(run) | ListEntry::Replaced(run) => run.line(),
        ListEntry::Set(set) => set.line(),
    };
    line.is_some_and(|line| line.simulated.is_some())
}

/// Lists measured and simulated runs separately: a model's figures are not a measurement.
fn push_kinds(body: &mut String, entries: &[ListEntry]) {
    let (simulated, measured): (Vec<&ListEntry>, Vec<&ListEntry>) =
        entries.iter().partition(|entry| is_simulated(entry));
    if !measured.is_empty() {
        push_table(body, STARTED, measured.into_iter().map(entry_rows));
    }
    if !simulated.is_empty() {
        body.push_str("<section id=\"simulated\">\n<h2>Simulated runs</h2>\n");
        push_table(body, MADE, simulated.into_iter().map(entry_rows));
        body.push_str("</section>\n");
    }
}

pub(super) fn push_runs(body: &mut String, runs: &[Listed]) {
    let mut lines = runs.iter().map(Listed::line);
    let is_made = lines.all(|line| line.is_some_and(|line| line.simulated.is_some()));
    let time = if is_made { MADE } else { STARTED };
    push_table(body, time, runs.iter().map(row));
}

/// Title of the column of times.
const STARTED: &str = "Started";

/// The same for simulations: their clock always starts at the same time, so that the column has the
/// times when their records were written.
const MADE: &str = "Made";

fn push_table(body: &mut String, time: &str, rows: impl Iterator<Item = String>) {
    let _ = write!(
        body,
        "<form action=\"/compare\">\n<table class=\"runs\">\n<thead><tr>\
         <th>Compare, base</th><th>Run</th><th>Verdict</th>\
         <th>{time}</th><th class=\"number\">IOPS</th><th class=\"number\">Read ms</th>\
         <th class=\"number\">Log ms</th></tr></thead>\n<tbody>\n",
    );
    for row in rows {
        body.push_str(&row);
    }
    body.push_str("</tbody>\n</table>\n<p><button>Compare ticked runs</button></p>\n</form>\n");
}

/// A run is one row; a set has its own row, and one for each of its tests below it.
fn entry_rows(entry: &ListEntry) -> String {
    match entry {
        ListEntry::Run(run) => row(run),
        ListEntry::Replaced(run) => {
            row(run).replacen("</small>", &format!(" \u{b7} {REPLACED}</small>"), 1)
        }
        ListEntry::Set(set) => {
            let mut rows = set_row(set);
            for test in &set.tests {
                rows.push_str(&row(test).replacen("<tr>", "<tr class=\"part\">", 1));
            }
            rows
        }
    }
}

fn set_row(set: &ServedSet) -> String {
    let id = escape(&set.id);
    let empty = RunLine::default();
    let line = set.line().unwrap_or(&empty);
    let name = if line.name.is_empty() { &set.id } else { &line.name };
    let (verdict, tone) = set.verdict();
    let tick = tick(&id, set.live().is_some());
    format!(
        "<tr><td>{tick}</td><th scope=\"row\"><a href=\"/run/{}\">{}</a>\
         <small>{id} \u{b7} Set of tests</small></th><td class=\"{}\">{}</td><td>{}</td>\
         <td class=\"number\" colspan=\"3\">{}</td></tr>\n",
        address(&set.id),
        escape(name),
        tone.class(),
        escape(&verdict),
        set.tests.first().map_or_else(|| "-".to_owned(), started),
        set.passed()
    )
}

/// The checkbox that selects a run or set for a comparison; empty if it is live.
fn tick(id: &str, is_live: bool) -> String {
    if is_live {
        return String::new();
    }
    format!(
        "<input type=\"checkbox\" name=\"run\" value=\"{id}\" aria-label=\"Compare {id}\"> \
         <input type=\"radio\" name=\"first\" value=\"{id}\" \
         aria-label=\"Measure the others against {id}\">"
    )
}

fn row(run: &Listed) -> String {
    let id = escape(&run.id);
    let summary = match &run.known {
        Known::Unread => return plain_row(&id, "being read"),
        Known::Unreadable(why) => return plain_row(&id, &escape(why)),
        Known::Summary(summary) => summary,
    };
    let place = if run.is_live { "live" } else { "run" };
    let name = if summary.name.is_empty() { &run.id } else { &summary.name };
    let tick = tick(&id, run.is_live);
    format!(
        "<tr><td>{tick}</td><th scope=\"row\"><a href=\"/{place}/{}\">{}</a>{}</th>\
         <td class=\"{}\">{}</td><td>{}</td>{}{}{}</tr>\n",
        address(&run.id),
        escape(name),
        details(&run.id, summary),
        summary.tone.class(),
        escape(&summary.verdict),
        started(run),
        rate(summary),
        number("Read ms", summary.read_ms, 3),
        number("Log ms", summary.log_write_ms, 3),
    )
}

/// The row of a run about which only `what` is known.
fn plain_row(id: &str, what: &str) -> String {
    format!("<tr><td></td><th scope=\"row\">{id}</th><td colspan=\"5\">{what}</td></tr>\n")
}

/// Folder, kind, machine, description and tags, under the name.
fn details(id: &str, summary: &RunLine) -> String {
    let parts: Vec<&str> = [id, &summary.test, &summary.machine, &summary.description]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let mut details = format!("<small>{}", escape(&parts.join(" \u{b7} ")));
    for tag in &summary.tags {
        let _ = write!(details, " <i class=\"tag\">{}</i>", escape(tag));
    }
    for volume in &summary.volumes {
        let place = volume_address(volume);
        let mount = escape(&volume.mount);
        let _ = write!(details, " <a href=\"{}\">{mount} over time</a>", escape(&place));
    }
    let place = address(id);
    let _ = write!(details, " <a class=\"edit\" href=\"/labels/{place}\">edit</a>");
    if let Some(sweep) = search::sweep_of(id) {
        let _ = write!(details, " <a href=\"/what-if/{}\">ranking</a>", address(sweep));
    }
    details + "</small>"
}

/// Start of a run; a script shows it in the browser's time zone.
pub(super) fn started(run: &Listed) -> String {
    let Some(time) = run.began_ns().and_then(report::format::iso_time) else {
        return "-".to_owned();
    };
    let text: String = time.chars().take(16).collect();
    let (time, text) = (escape(&time), escape(&text.replace('T', " ")));
    let is_imported = matches!(&run.known, Known::Summary(line) if line.imported.is_some());
    // The time zone of an imported result is unknown.
    if is_imported { text } else { format!("<time datetime=\"{time}\">{text} UTC</time>") }
}

/// The IOPS of a load, or the MiB/s of a backup.
fn rate(summary: &RunLine) -> String {
    match (summary.iops, summary.backup_mib_per_second) {
        (None, Some(rate)) => {
            let rate = report::format::number(rate, 0);
            format!("<td class=\"number\" data-label=\"Rate\">{rate} MiB/s</td>")
        }
        (iops, _) => number("IOPS", iops, 0),
    }
}

fn number(label: &str, value: Option<f64>, decimals: usize) -> String {
    let value = value.map(|value| report::format::number(value, decimals));
    let value = value.as_deref().unwrap_or("-");
    format!("<td class=\"number\" data-label=\"{label}\">{value}</td>")
}

/// The form that starts a run or prepares its databases.
fn push_start(body: &mut String, start: &StartForm) {
    if start.plans.is_empty() {
        return;
    }
    let plans = options(&start.plans, "");
    let tests: Vec<String> = start.tests.iter().map(|test| (*test).to_owned()).collect();
    let tests = options(&tests, "");
    let _ = write!(
        body,
        "<section>\n<h2>Start a run</h2>\n<form method=\"post\" action=\"/start\">\n\
         <div class=\"fields\">\n\
         <p><label for=\"plan\">Plan</label><select id=\"plan\" name=\"plan\">\n{plans}\
         </select></p>\n\
         <p><label for=\"test\">Kind of test</label><select id=\"test\" name=\"test\">\n\
         <option value=\"\">as the plan says</option>\n{tests}</select></p>\n\
         <p><label for=\"duration\">Duration</label><input id=\"duration\" name=\"duration\" \
         placeholder=\"as the plan says; 2h\"></p>\n\
         <p><label for=\"name\">Name</label><input id=\"name\" name=\"name\" \
         placeholder=\"as the plan says\"></p>\n</div>\n\
         <p><button>Start</button> <button formaction=\"/prepare\">Prepare its databases</button>\
         </p>\n<p class=\"note\">The databases of the plan must be prepared before it is \
         started. The run continues when this server ends.</p>\n</form>\n</section>\n"
    );
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ListEntry, RunLine, entry_rows, push_kinds, rate};
    use crate::runs::{Known, Listed};

    #[test]
    fn the_time_of_a_simulation_is_not_called_its_start() {
        let table = |simulated: Option<&str>| {
            let simulated = simulated.map(str::to_owned);
            let line = RunLine { simulated, ..RunLine::default() };
            let run = Listed::made_up("a", false, Known::Summary(Arc::new(line)));
            let mut body = String::new();
            push_kinds(&mut body, &[ListEntry::Run(Box::new(run))]);
            body
        };
        assert!(table(None).contains("<th>Started</th>"));
        assert!(table(Some("nvme")).contains("<th>Made</th>"));
    }

    #[test]
    fn a_replaced_run_is_marked_as_such() {
        let run = Listed::made_up("s/2-stress", false, Known::Summary(Arc::default()));
        let row = entry_rows(&ListEntry::Replaced(Box::new(run)));
        assert!(row.contains("replaced in its set by a later run</small>"), "{row}");
    }

    #[test]
    fn rates_are_grouped_by_thousands_and_a_replay_has_none() {
        let load = RunLine { iops: Some(21_744.2), ..RunLine::default() };
        assert!(rate(&load).ends_with(">21,744</td>"), "{}", rate(&load));
        let backup = RunLine { backup_mib_per_second: Some(1_234.4), ..RunLine::default() };
        assert!(rate(&backup).ends_with(">1,234 MiB/s</td>"), "{}", rate(&backup));
        assert!(rate(&RunLine::default()).ends_with(">-</td>"));
    }
}
