//! Page requests that need no storage: the kind of a document, a sized deployment, and the command
//! that simulates arrays. Here too, page input never becomes a path: lines that could be mistaken
//! for a file name are refused.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use blueprint::{Candidate, Sized};
use host::sweep;
use plan::deployment::Replacement;
use plan::{Deployment, Overrides};
use record::JOURNAL;
use serve::{DocumentKind, RunQuestion, SimulationQuestion, SizingQuestion};

use console::documents::{dated_folder, read_plan, read_text};
use console::error::CommandError;
use designs::size;

/// Designs that one page compares.
const MOST_DESIGNS: usize = 200;

/// Simulations that one page starts; each takes a processor for some seconds to minutes.
const MOST_SIMULATIONS: usize = 24;

/// Folder name of the first simulation of several.
const FIRST: &str = "what-if-01";

/// Sections that identify documents; those of plans come last, as they are the least specific.
const SECTIONS: [(&str, DocumentKind); 6] = [
    ("[[tier]]", DocumentKind::Deployment),
    ("[raid]", DocumentKind::Array),
    ("[disk]", DocumentKind::Array),
    ("[flash]", DocumentKind::Array),
    ("[databases]", DocumentKind::Plan),
    ("[[database]]", DocumentKind::Plan),
];

/// Kind of a document by its sections, whether or not it is valid.
pub(super) fn kind(document: &Path) -> Option<DocumentKind> {
    let (_, text) = read_text(document).ok()?;
    let mut kinds = SECTIONS.into_iter();
    let found =
        kinds.find(|(section, _)| text.lines().any(|line| line.trim_start().starts_with(section)));
    found.map(|(_, kind)| kind)
}

/// The page of a sized deployment.
pub(super) fn size(question: &SizingQuestion) -> Result<String, CommandError> {
    let (file, text) = match &question.document {
        Some(path) => read_text(path)?,
        None => ("the example".to_owned(), Deployment::example().to_owned()),
    };
    let file = named(&file);
    let values: Vec<Replacement> = question
        .values
        .iter()
        .map(|(key, value)| Replacement { key: key.clone(), value: value.clone() })
        .collect();
    let deployment = Deployment::parse_with(&file, &text, &values)?;
    let sizing = provision::size(&deployment);
    let designs = combinations(&question.scenarios, size::EXAMPLE, MOST_DESIGNS)?;
    let candidates = designs.into_iter().map(|scenario| {
        let all = [&values[..], &scenario].concat();
        Candidate::of(scenario, Deployment::parse_with(&file, &text, &all))
    });
    let candidates = blueprint::ranked(candidates.collect());
    let sized = Sized::new(&deployment, &sizing);
    Ok(blueprint::sizing_html(sized, &candidates))
}

/// Name of a document's file, so that pages do not show the folders of this machine.
fn named(file: &str) -> String {
    Path::new(file).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Every combination of the lines of a page; empty without lines.
fn combinations(
    lines: &[String],
    example: &str,
    most: usize,
) -> Result<Vec<Vec<Replacement>>, CommandError> {
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(line) = lines.iter().find(|line| !line.contains('=')) {
        return Err(CommandError::new(format!(
            "`{line}` has no values; write KEY = VALUE, VALUE, such as {example}"
        )));
    }
    let all = sweep::combinations_of(lines, example)?;
    if all.len() > most {
        return Err(CommandError::new(format!(
            "{} combinations are more than the {most} of a page; give fewer values, or use the \
             command line",
            all.len()
        )));
    }
    Ok(all)
}

/// A command that creates a run.
pub(super) struct RunCommand {
    /// Its arguments.
    pub(super) words: Vec<OsString>,
    /// Folder that the run creates.
    pub(super) folder: PathBuf,
    /// Journal that appears once the run has started.
    pub(super) journal: PathBuf,
}

/// Builds the command that starts a run in a new folder below `root`. All page input is checked as
/// on the command line before anything is started.
pub(super) fn run(question: &RunQuestion, root: &Path) -> Result<RunCommand, CommandError> {
    let RunQuestion { plan, test, duration, name } = question;
    let length = duration.as_ref().map(|text| {
        plan::parse_duration(text).filter(|length| length.0 > 0).ok_or_else(|| {
            CommandError::new(format!("{text}: no duration; give one such as 90s, 45min or 2h"))
        })
    });
    if let Some(fault) = name.as_deref().and_then(plan::name_fault) {
        return Err(CommandError::new(format!("This name cannot be taken: {fault}")));
    }
    let overrides = Overrides {
        name: name.clone(),
        test: test.clone(),
        duration: length.transpose()?,
        ..Overrides::default()
    };
    let read = read_plan(plan, &overrides)?;
    let folder = dated_folder(root, &read.name);
    let mut words: Vec<OsString> = vec!["run".into(), plan.clone().into()];
    words.push(joined("--output=", folder.as_os_str()));
    for (flag, value) in [("--test=", test), ("--duration=", duration), ("--name=", name)] {
        words.extend(value.as_ref().map(|value| joined(flag, value.as_ref())));
    }
    let journal = folder.join(JOURNAL);
    Ok(RunCommand { words, folder, journal })
}

/// A flag and its value in one word, so that no value is parsed as a flag.
fn joined(flag: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(flag);
    word.push(value);
    word
}

/// The command that answers `question` in a new folder below `root`.
pub(super) fn simulation(
    question: &SimulationQuestion,
    root: &Path,
) -> Result<RunCommand, CommandError> {
    let overrides =
        Overrides { volume_of: Some(designs::simulate::no_volume), ..Overrides::default() };
    let read = read_plan(&question.plan, &overrides)?;
    combinations(&question.changes, designs::simulate::EXAMPLE, MOST_SIMULATIONS)?;
    let folder = dated_folder(root, &read.name);
    let mut words: Vec<OsString> = vec!["simulate".into(), question.plan.clone().into()];
    words.push(joined("--array=", question.array.as_ref()));
    words.push(joined("--duration=", question.duration.as_ref()));
    words.push(joined("--output=", folder.as_os_str()));
    words.extend(question.changes.iter().map(|change| format!("--what-if={change}").into()));
    let journal = if question.changes.is_empty() {
        folder.join(JOURNAL)
    } else {
        folder.join(FIRST).join(JOURNAL)
    };
    Ok(RunCommand { words, folder, journal })
}

#[cfg(test)]
mod tests {
    use serve::SizingQuestion;

    use super::{MOST_DESIGNS, combinations, size};

    fn question(values: &[(&str, &str)], scenarios: &[&str]) -> SizingQuestion {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        SizingQuestion {
            document: None,
            values: values.iter().map(pair).collect(),
            scenarios: scenarios.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    #[test]
    fn a_line_of_a_page_is_never_taken_for_a_file() {
        let line = "/etc/hostname".to_owned();
        let error = combinations(&[line], "a=1", 9).unwrap_err();
        assert!(error.told().unwrap().0.contains("has no values"));
        let many = (0..=MOST_DESIGNS).map(|value| value.to_string()).collect::<Vec<String>>();
        let line = format!("tier.1.mailboxes = {}", many.join(","));
        assert!(combinations(&[line], "a=1", MOST_DESIGNS).is_err());
        assert!(combinations(&[], "a=1", 1).unwrap().is_empty());
    }

    #[test]
    fn values_and_scenarios_of_a_page_reach_the_sizing() {
        let asked = question(
            &[("tier.1.mailboxes", "777"), ("disks.database.size", "8TB")],
            &["availability.servers_per_site = 4, 6"],
        );
        let page = size(&asked).unwrap();
        assert!(page.contains("777") && page.contains("8 TB") && page.contains("servers_per_site"));
        let wrong = size(&question(&[("tier.1.mailboxes", "many")], &[])).unwrap_err();
        assert!(wrong.told().unwrap().0.contains("mailboxes"), "{wrong:?}");
    }
}
