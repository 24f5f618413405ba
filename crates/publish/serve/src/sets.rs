//! Groups runs into sets of tests: every list shows a set as one entry with its tests below, and it
//! has its own page.

use record::{RunRecord, TestType};
use report::{
    NamedSet, ReportForm, RunState, SUITE_PARTS, SuiteTest, TOO_SMALL, Unmeasured, split_replaced,
    suite_of,
};
use serde_json::{Value, json};
use verdict::{Ruling, Verdict};

use crate::runs::{Listed, ServedRuns};
use crate::summary::{RunLine, Tone};

/// A set of tests, in the order in which they were run; at least one.
pub(crate) struct ServedSet {
    /// Its folder relative to the served one, with `/` between the parts; requests use this name.
    pub id: String,
    pub tests: Vec<Listed>,
}

/// An entry of a list.
pub(crate) enum ListEntry {
    Run(Box<Listed>),
    /// A run whose place in its set a later one took.
    Replaced(Box<Listed>),
    Set(ServedSet),
}

/// The entries of a list of `runs`, in their order; a set is placed at its first run. `root` is the
/// name of the served folder, which may be a set itself.
pub(crate) fn entries(runs: Vec<Listed>, root: &str) -> Vec<ListEntry> {
    let mut entries: Vec<ListEntry> = Vec::new();
    for run in runs {
        let Some(id) = set_id(&run, root) else {
            entries.push(ListEntry::Run(Box::new(run)));
            continue;
        };
        let known = entries.iter_mut().find_map(|entry| match entry {
            ListEntry::Set(set) if set.id == id => Some(set),
            _ => None,
        });
        match known {
            Some(set) => set.tests.push(run),
            None => entries.push(ListEntry::Set(ServedSet { id, tests: vec![run] })),
        }
    }
    entries.into_iter().flat_map(with_replaced).collect()
}

/// A set with the last run of each of its tests, and then earlier ones as runs for themselves.
fn with_replaced(entry: ListEntry) -> Vec<ListEntry> {
    let ListEntry::Set(ServedSet { id, tests }) = entry else {
        return vec![entry];
    };
    let (tests, replaced) = split_replaced(tests, |run| &run.id);
    let mut entries = vec![ListEntry::Set(ServedSet { id, tests })];
    entries.extend(replaced.into_iter().map(|run| ListEntry::Replaced(Box::new(run))));
    entries
}

/// The sets among `runs`.
pub(crate) fn of(runs: &[Listed], root: &str) -> Vec<ServedSet> {
    entries(runs.to_vec(), root)
        .into_iter()
        .filter_map(|entry| match entry {
            ListEntry::Set(set) => Some(set),
            ListEntry::Run(_) | ListEntry::Replaced(_) => None,
        })
        .collect()
}

/// The set that a run is a test of.
fn set_id(run: &Listed, root: &str) -> Option<String> {
    let set = set_folder(run)?;
    Some(if set.is_empty() { root } else { set }.to_owned())
}

/// The folder of that set, relative to the served one.
fn set_folder(run: &Listed) -> Option<&str> {
    let (set, kind) = suite_of(&run.id)?;
    let is_other = run.line().is_some_and(|line| line.test != kind.name());
    (!is_other).then_some(set)
}

impl ListEntry {
    /// Whether a search matches it: a set matches if one of its tests does.
    pub(crate) fn matches(&self, query: &str) -> bool {
        match self {
            Self::Run(run) | Self::Replaced(run) => run.matches(query),
            Self::Set(set) => {
                set.id.contains(query) || set.tests.iter().any(|of| of.matches(query))
            }
        }
    }

    /// The entry as JSON for programs.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Run(run) => run.json(),
            Self::Replaced(run) => {
                let mut json = run.json();
                json["replaced"] = true.into();
                json
            }
            Self::Set(set) => set.json(),
        }
    }
}

impl ServedSet {
    /// The set of this name, if the folder has one.
    pub(crate) fn find(runs: &ServedRuns, id: &str) -> Option<Self> {
        let all = entries(runs.all(), &runs.root_name());
        all.into_iter().find_map(|entry| match entry {
            ListEntry::Set(set) if set.id == id => Some(set),
            _ => None,
        })
    }

    /// Whether a run is one of its tests, or was replaced by one.
    pub(crate) fn has(&self, run: &Listed) -> bool {
        set_folder(run)
            .is_some_and(|folder| self.tests.iter().any(|of| set_folder(of) == Some(folder)))
    }

    /// Summary of the first test that has been read.
    pub(crate) fn line(&self) -> Option<&RunLine> {
        self.tests.iter().find_map(Listed::line)
    }

    /// The test that is running.
    pub(crate) fn live(&self) -> Option<&Listed> {
        self.tests.iter().find(|test| test.is_live)
    }

    /// The combined result of the tests, and its colour; a missing one is inconclusive, and a set
    /// names a requirement that its tests do not meet, the first found.
    pub(crate) fn verdict(&self) -> (String, Tone) {
        if self.live().is_some() {
            return ("Live".to_owned(), Tone::Live);
        }
        let lines: Vec<&RunLine> = self.tests.iter().filter_map(Listed::line).collect();
        if lines.iter().any(|line| line.tone == Tone::Fail) {
            return (with_room(Ruling::Fail, &lines), Tone::Fail);
        }
        if !lines.iter().all(|line| has_passed(line)) || lines.len() < SUITE_PARTS.len() {
            return (with_room(Ruling::CannotJudge, &lines), Tone::Warn);
        }
        match lines.iter().find(|line| line.tone == Tone::Warn) {
            Some(lacking) => (lacking.verdict.clone(), Tone::Warn),
            None => (Ruling::Pass.name().to_owned(), Tone::Pass),
        }
    }

    /// The verdict as spelled in reports; `None` for a live set.
    pub(crate) fn verdict_for_programs(&self) -> Option<&'static str> {
        let (name, tone) = self.verdict();
        match tone {
            Tone::Live => None,
            Tone::Fail => Some("fail"),
            Tone::Pass | Tone::Warn if name.starts_with(Ruling::CannotJudge.name()) => {
                Some("cannot_judge")
            }
            Tone::Pass | Tone::Warn => Some("pass"),
        }
    }

    /// How many of the tests passed.
    pub(crate) fn passed(&self) -> String {
        let lines = self.tests.iter().filter_map(Listed::line);
        let passed = lines.filter(|line| has_passed(line));
        format!("{} of {} passed", passed.count(), SUITE_PARTS.len())
    }

    fn json(&self) -> Value {
        let empty = RunLine::default();
        let line = self.line().unwrap_or(&empty);
        json!({
            "id": self.id,
            "state": if self.live().is_some() { RunState::Live } else { RunState::Ended }.name(),
            "name": line.name,
            "tags": line.tags,
            "description": line.description,
            "machine": line.machine,
            "test": "Set of tests",
            "started": line.started,
            "verdict": self.verdict_for_programs(),
            "headline": self.live().is_none().then(|| self.verdict().0),
            "tests": self.tests.iter().map(Listed::json).collect::<Vec<Value>>(),
        })
    }

    /// Reads its ended tests.
    pub(crate) fn load(&self, runs: &ServedRuns) -> LoadedSet {
        let tests = SUITE_PARTS.map(|(part, kind)| {
            let mut tests = self.tests.iter();
            let run = tests.find(|run| suite_of(&run.id).is_some_and(|of| of.1 == kind));
            let own = run.and_then(|run| run.id.rsplit('/').next()).unwrap_or(part);
            let made = made(runs, run, self.live().is_some());
            LoadedTest { part: own.to_owned(), kind, made }
        });
        LoadedSet { tests }
    }
}

/// An outcome, and whether a test found the volumes too small.
fn with_room(outcome: Ruling, lines: &[&RunLine]) -> String {
    let is_small = lines.iter().any(|line| line.verdict.ends_with(TOO_SMALL));
    let caveat = if is_small { format!(", {TOO_SMALL}") } else { String::new() };
    outcome.name().to_owned() + &caveat
}

/// Whether a test passed, even if its verdict names what it lacks.
fn has_passed(line: &RunLine) -> bool {
    match line.tone {
        Tone::Pass => true,
        Tone::Warn => line.verdict.starts_with(Ruling::Pass.name()),
        Tone::Fail | Tone::Live => false,
    }
}

/// Record and verdict of a run that has ended, or why they are missing; a set that is live has
/// tests to come.
fn made(
    runs: &ServedRuns,
    run: Option<&Listed>,
    is_live: bool,
) -> Result<(RunRecord, Verdict), Unmeasured> {
    match run {
        None if is_live => Err(Unmeasured::Waiting),
        None => Err(Unmeasured::Unrecorded),
        Some(run) if run.is_live => Err(Unmeasured::Running),
        Some(run) => runs.load(run).map_err(|why| Unmeasured::Because(Ruling::CannotJudge, why)),
    }
}

struct LoadedTest {
    part: String,
    kind: TestType,
    made: Result<(RunRecord, Verdict), Unmeasured>,
}

impl LoadedTest {
    fn shown(&self) -> SuiteTest<'_> {
        SuiteTest {
            kind: self.kind,
            folder: self.part.clone(),
            measured: match &self.made {
                Ok((record, verdict)) => Ok((record, verdict)),
                Err(why) => Err(why.clone()),
            },
        }
    }
}

/// A set whose records have been read.
pub(crate) struct LoadedSet {
    tests: [LoadedTest; SUITE_PARTS.len()],
}

impl LoadedSet {
    /// Its report in a form.
    pub(crate) fn report(&self, form: ReportForm) -> String {
        report::render_suite(form, &self.tests())
    }

    fn tests(&self) -> Vec<SuiteTest<'_>> {
        self.tests.iter().map(LoadedTest::shown).collect()
    }
}

/// The page of sets side by side.
pub(crate) fn comparison_html(sets: &[ServedSet], runs: &ServedRuns) -> String {
    let (mut loaded, mut own, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for set in sets {
        loaded.push(set.load(runs));
        own.push(set.line().map_or("", |line| &*line.name));
        ids.push(set.id.clone());
    }
    let mut named = Vec::new();
    for (set, name) in loaded.iter().zip(report::comparison_names(&own, ids)) {
        named.push(NamedSet { name, tests: set.tests() });
    }
    report::render_suites(ReportForm::Page, &named)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use report::SUITE_PARTS;

    use super::{ListEntry, ServedSet, entries};
    use crate::runs::{Known, Listed};
    use crate::summary::{RunLine, Tone};

    fn run(id: &str, test: &str, verdict: &str, tone: Tone) -> Listed {
        let line = RunLine {
            test: test.to_owned(),
            verdict: verdict.to_owned(),
            tone,
            ..RunLine::default()
        };
        Listed::made_up(id, tone == Tone::Live, Known::Summary(Arc::new(line)))
    }

    fn whole(last: (&str, Tone)) -> ServedSet {
        let parts = SUITE_PARTS.iter().map(|(part, kind)| {
            let (verdict, tone) = if part.starts_with('4') { last } else { ("Pass", Tone::Pass) };
            run(&format!("runs/set/{part}"), kind.name(), verdict, tone)
        });
        let mut all: Vec<Listed> = parts.collect();
        all.insert(0, run("runs/other", "Stress", "Pass", Tone::Pass));
        all.insert(3, run("runs/x/2-stress", "Performance", "Pass", Tone::Pass));
        let mut found = entries(all, "runs").into_iter().filter_map(|entry| match entry {
            ListEntry::Set(set) => Some(set),
            ListEntry::Run(_) | ListEntry::Replaced(_) => None,
        });
        let set = found.next().expect("there is a set");
        assert!(found.next().is_none(), "a run of another kind is no part of a set");
        set
    }

    #[test]
    fn runs_of_a_set_are_one_entry_as_good_as_the_worst_of_them() {
        let set = whole(("Pass", Tone::Pass));
        assert_eq!((set.id.as_str(), set.tests.len()), ("runs/set", 4));
        assert_eq!(set.verdict(), ("Pass".to_owned(), Tone::Pass));
        assert_eq!(set.passed(), "4 of 4 passed");
        assert_eq!(whole(("Fail", Tone::Fail)).verdict(), ("Fail".to_owned(), Tone::Fail));
        let unjudged = whole(("Cannot judge", Tone::Warn));
        assert_eq!(unjudged.verdict(), ("Cannot judge".to_owned(), Tone::Warn));
        assert_eq!(unjudged.passed(), "3 of 4 passed");
        assert_eq!(whole(("Live", Tone::Live)).verdict().1, Tone::Live);
        let drifting = whole(("Pass, not steady", Tone::Warn));
        assert_eq!(drifting.verdict(), ("Pass, not steady".to_owned(), Tone::Warn));
        assert_eq!(drifting.passed(), "4 of 4 passed");
        assert_eq!(drifting.json()["verdict"], "pass");
        assert_eq!(whole(("Cut off", Tone::Warn)).verdict().0, "Cannot judge");
        for (headline, tone, verdict) in [
            ("Cannot judge, too small", Tone::Warn, "cannot_judge"),
            ("Fail, too small", Tone::Fail, "fail"),
        ] {
            let json = whole((headline, tone)).json();
            assert_eq!((&json["headline"], &json["verdict"]), (&headline.into(), &verdict.into()));
        }
        let mut less = whole(("Pass", Tone::Pass));
        less.tests.pop();
        assert_eq!(less.verdict().1, Tone::Warn, "one test was not made");
    }

    #[test]
    fn the_last_run_of_a_test_counts_and_an_earlier_one_is_a_run_for_itself() {
        let all = [("set/2-stress", "Cannot judge"), ("set/2-stress-2", "Pass")];
        let all = all.map(|(id, verdict)| run(id, "Stress", verdict, Tone::Pass));
        let found = entries(all.to_vec(), "runs");
        let [ListEntry::Set(set), ListEntry::Replaced(replaced)] = &found[..] else {
            panic!("{} entries", found.len());
        };
        assert_eq!((set.tests.len(), set.tests[0].id.as_str()), (1, "set/2-stress-2"));
        assert_eq!(replaced.id, "set/2-stress");
        assert_eq!(found[1].json()["replaced"], true);
        assert!(set.has(replaced) && !set.has(&run("set", "Stress", "Pass", Tone::Pass)));
    }

    #[test]
    fn the_served_folder_may_be_a_set_itself() {
        let found = entries(vec![run("3-backup", "Database backup", "Pass", Tone::Pass)], "set");
        assert!(matches!(&found[..], [ListEntry::Set(set)] if set.id == "set"));
    }
}
