//! `plan`: a commented plan to start from, or the plans and scripts of a sized deployment.

use std::fs;
use std::path::{Path, PathBuf};

use device_os::probe;
use plan::{Deployment, Plan};
use provision::array::VNXE3300;
use provision::export::{self, Document, Kind, export};
use provision::{Provision, Requirements, TestPlan, provision};
use serde_json::Value;
use sizing::{DesignFinding, Severity};
use units::Bytes;

use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use flags::{ArrayKind, ExportKind, PlanFlags};

pub mod flags;
mod json;

use super::predict::{self, PredictionOrder};

/// Default mount root of a server's volumes.
const USUAL_ROOT: &str = "/mnt/mail";

/// Prints the example, or lays a deployment out.
pub(crate) fn run(flags: &PlanFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let Some(path) = &flags.deployment else {
        console.answer_text(&Plan::example())?;
        return Ok(Outcome::Pass);
    };
    let document = documents::read_text(path)?;
    let deployment = Deployment::parse(&document.0, &document.1)?;
    let (provision, findings) = laid_out(&deployment, flags.array)?;
    let test = TestPlan {
        server: flags.server.clone(),
        root: root(flags.root.as_deref())?,
        scale: flags.scale / 100.0,
        databases: None,
    };
    let plan = test.to_toml(&provision)?;
    match &flags.output {
        Some(folder) => write_all(flags, folder, &provision, &test, plan, console)?,
        None if flags.json => console.answer_json("provision", json::of(&provision))?,
        None => console.answer_text(&provision.to_markdown())?,
    }
    let complained = complain(&findings, console)?;
    let Some(folder) = flags.output.as_ref().filter(|_| flags.predict) else {
        return Ok(complained);
    };
    let order = PredictionOrder {
        folder: folder.join("predicted"),
        server: flags.server.clone(),
        force: flags.force,
        document,
    };
    match predict::of(&deployment, &provision, &order, console) {
        Ok(predicted) => Ok(complained.worse(predict::conclude(&predicted, console)?)),
        Err(error) if complained == Outcome::Fail => {
            predict::remark_refusal(error, console)?;
            Ok(complained)
        }
        Err(error) => Err(error),
    }
}

/// Lays out a deployment, and returns the problems of its design.
pub fn laid_out(
    deployment: &Deployment,
    array: Option<ArrayKind>,
) -> Result<(Provision, Vec<DesignFinding>), CommandError> {
    let sizing = provision::size(deployment);
    let mut needs = Requirements::of(deployment, &sizing.sheet, sizing.architecture)?;
    if let Some(ArrayKind::Vnxe3300) = array {
        needs = needs.on_array(&VNXE3300)?;
    }
    Ok((provision(needs)?, sizing.findings))
}

/// Returns the JSON answer of `plan` for a deployment.
pub fn layout_of(deployment: &Deployment) -> Result<Value, CommandError> {
    let (provision, _) = laid_out(deployment, None)?;
    Ok(report::answer("provision", json::of(&provision)))
}

/// Prints the problems of the deployment, which is laid out anyway so that it can be inspected.
fn complain(findings: &[DesignFinding], console: &mut Console) -> Result<Outcome, CommandError> {
    let mut outcome = Outcome::Pass;
    for finding in findings {
        let word = match finding.severity {
            Severity::Remark => "remark",
            Severity::Warning => "warning",
            Severity::Violation => {
                outcome = Outcome::Fail;
                "violation"
            }
        };
        let DesignFinding { key, text, remedy, .. } = finding;
        console.remark(format_args!("{word}: {key}: {text}; {remedy}"))?;
    }
    Ok(outcome)
}

/// Absolute path of the volumes' folder, because the plan may be read from elsewhere.
fn root(given: Option<&Path>) -> Result<String, CommandError> {
    let Some(root) = given else {
        return Ok(USUAL_ROOT.to_owned());
    };
    // Not canonical: Windows would prepend `\\?\`, after which `/` is no separator.
    let whole = std::path::absolute(root);
    let whole = whole.map_err(|error| CommandError::file(root, "find", &error))?;
    let text = whole.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        CommandError::new(format!("{}: is no UTF-8 path; choose another", root.display()))
    })
}

/// Writes every file, or none if one of them already exists.
fn write_all(
    flags: &PlanFlags,
    folder: &Path,
    provision: &Provision,
    test: &TestPlan,
    plan: String,
    console: &mut Console,
) -> Result<(), CommandError> {
    let mut files = vec![
        file("plan.toml", plan),
        file("provision.md", provision.to_markdown()),
        file("provision.json", format!("{:#}\n", report::answer("provision", json::of(provision)))),
    ];
    for kind in kinds(&flags.export)? {
        files.extend(export(provision, kind));
    }
    if flags.export.iter().any(|kind| matches!(kind, ExportKind::All | ExportKind::Fleet)) {
        files.extend(export::fleet(provision, test)?);
    }
    let missing = match flags.root {
        Some(_) => make_folders(provision, test)?,
        None => None,
    };
    documents::make_folder(folder)?;
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.name)).collect();
    if let (Some(path), false) =
        (paths.iter().find(|path: &&PathBuf| fs::symlink_metadata(path).is_ok()), flags.force)
    {
        return Err(CommandError::new(format!(
            "{}: is there already, and nothing is written over; name another folder, or say \
             --force",
            path.display()
        )));
    }
    let inputs: Vec<&Path> = flags.deployment.iter().map(PathBuf::as_path).collect();
    for (path, file) in paths.iter().zip(&files) {
        let existing = Existing::of_flag(flags.force);
        documents::write(path, file.text.as_bytes(), existing, &inputs)?;
        console.answer(path.display())?;
    }
    let plan = folder.join("plan.toml");
    if flags.root.is_none() && !Path::new(USUAL_ROOT).exists() {
        console.remark(format_args!(
            "The plan is for {}, whose volumes are mounted below {USUAL_ROOT} (--export linux \
             writes the script). To rehearse it elsewhere with small databases: plimsoll plan \
             {} -o OTHER --root DIR --scale 1.",
            test.server_of(provision)?.name,
            flags.deployment.as_deref().unwrap_or_else(|| Path::new("DEPLOYMENT")).display(),
        ))?;
    }
    match missing {
        Some(missing) => console.remark(format_args!("Not enough room for this plan: {missing}.")),
        None => console.remark(format_args!(
            "Next: plimsoll prepare {0} fills the databases, plimsoll run {0} measures them.",
            plan.display()
        )),
    }
}

fn file(name: &str, text: String) -> Document {
    Document { name: name.to_owned(), text }
}

/// Creates the database folders of the tested server, below a root that the user named; returns
/// what a rehearsal lacks of room there.
fn make_folders(provision: &Provision, test: &TestPlan) -> Result<Option<String>, CommandError> {
    let server = test.server_of(provision)?;
    for (folder, log) in test.folders(server) {
        for folder in [folder, log] {
            let path = Path::new(&folder);
            documents::make_folder(path)?;
        }
    }
    let free = Bytes(probe::free_bytes(Path::new(&test.root))?);
    Ok(test.missing_room(provision, free))
}

fn kinds(wanted: &[ExportKind]) -> Result<Vec<Kind>, CommandError> {
    let mut kinds = Vec::new();
    for kind in wanted {
        match kind {
            // Both versions have the same file names.
            ExportKind::All => {
                kinds.extend(Kind::ALL.into_iter().filter(|kind| *kind != Kind::TablesV6));
            }
            ExportKind::Csv => kinds.push(Kind::Tables),
            ExportKind::CsvV6 => kinds.push(Kind::TablesV6),
            ExportKind::Diskpart => kinds.push(Kind::Diskpart),
            ExportKind::Powershell => kinds.push(Kind::PowerShell),
            ExportKind::Linux => kinds.push(Kind::Linux),
            // Needs the test plan, not only the provision.
            ExportKind::Fleet => {}
        }
    }
    let mut once = Vec::new();
    kinds.retain(|kind| {
        let new = !once.contains(kind);
        once.push(*kind);
        new
    });
    if kinds.contains(&Kind::Tables) && kinds.contains(&Kind::TablesV6) {
        return Err(CommandError::new(
            "--export: csv (which is part of all) and csv-v6 make files of the same names; export \
             one of them, and the other into another folder",
        ));
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{USUAL_ROOT, root};

    /// The folder is created when the plan is written.
    #[test]
    fn the_folder_of_the_volumes_need_not_be_there() {
        let whole = root(Some(Path::new("not/there"))).expect("a path");
        assert!(Path::new(&whole).is_absolute() && whole.ends_with("there"), "{whole}");
        assert_eq!(root(None).expect("the usual one"), USUAL_ROOT);
    }
}
