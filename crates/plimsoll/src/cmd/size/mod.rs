//! `size`: from mailboxes to servers, databases and disks, with the reason for every number.

mod sweep;

use std::fs;
use std::path::Path;

use plan::Deployment;
use report::Sized;
use sizing::{Sizing, size};

use crate::Outcome;
use crate::console::Console;
use crate::documents;
use crate::error::CommandError;
use crate::flags::SizeFlags;

/// Sizes the deployment; fails where it cannot be built.
pub fn run(flags: &SizeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let Some(path) = &flags.deployment else {
        console.answer_bytes(Deployment::example().as_bytes())?;
        return Ok(Outcome::Pass);
    };
    let (file, text) = read(path)?;
    if !flags.scenarios.is_empty() {
        return sweep::run(flags, &file, &text, console);
    }
    let deployment = Deployment::parse(&file, &text)?;
    let sizing = size(&deployment);
    let sized = Sized {
        deployment: &deployment,
        sizing: &sizing,
    };
    if let Some(page) = &flags.html {
        documents::write(page, report::sizing_html(sized).as_bytes())?;
    }
    if flags.explain.is_empty() {
        answer(flags, sized, console)?;
    }
    for key in &flags.explain {
        console.answer_bytes(explained(&sizing, key)?.as_bytes())?;
    }
    Ok(outcome(sizing.is_workable()))
}

const fn outcome(workable: bool) -> Outcome {
    if workable {
        Outcome::Pass
    } else {
        Outcome::Fail
    }
}

fn read(path: &Path) -> Result<(String, String), CommandError> {
    let text =
        fs::read_to_string(path).map_err(|error| CommandError::file(path, "read", &error))?;
    Ok((path.display().to_string(), text))
}

fn answer(flags: &SizeFlags, sized: Sized<'_>, console: &mut Console) -> Result<(), CommandError> {
    let text = if flags.json {
        report::sizing_json(sized)
    } else {
        report::sizing_text(sized)
    };
    console.answer_bytes(text.as_bytes())?;
    if let Some(page) = &flags.html {
        console.remark(format_args!("Page: {}", page.display()))?;
    }
    Ok(())
}

fn explained(sizing: &Sizing, key: &str) -> Result<String, CommandError> {
    report::explain(sizing, key).ok_or_else(|| {
        let nearest = sizing.sheet.nearest(key);
        let hint = nearest.map_or_else(
            || "the report lists the keys".to_owned(),
            |nearest| format!("did you mean `{nearest}`? The report lists the keys"),
        );
        CommandError::new(format!(
            "--explain {key}: this deployment has no such number; {hint}"
        ))
    })
}
