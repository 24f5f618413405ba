//! `size`: derives servers, databases and disks from mailboxes, with the reason for every number.

pub(crate) mod flags;
pub(crate) mod prove;
mod sweep;

use std::path::Path;

use blueprint::{PredictedDesign, Sized, Unsimulated};
use plan::Deployment;
use provision::size;
use sizing::Sizing;

use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use flags::SizeFlags;

use super::predict::{self, PredictionOrder, designed};

pub use sweep::EXAMPLE;

/// Sizes the deployment; fails if it is not feasible.
pub(crate) fn run(flags: &SizeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if flags.example {
        console.answer_text(Deployment::example())?;
        return Ok(Outcome::Pass);
    }
    let flags = &flags.in_order();
    let Some(path) = &flags.deployment else {
        let text = "give the deployment to size as well: plimsoll size DEPLOYMENT ...; `plimsoll \
                    size --example` prints one to start from";
        return Err(CommandError::new(text.to_owned()));
    };
    expect_page_name(flags.html.as_deref())?;
    if let Some(page) = &flags.html {
        documents::refuse_existing(page, Existing::of_flag(flags.force))?;
    }
    let (file, text) = documents::read_text(path)?;
    if !flags.scenarios.is_empty() {
        return sweep::run(flags, &file, &text, console);
    }
    let deployment = Deployment::parse(&file, &text)?;
    let sizing = size(&deployment);
    let document = (file, text);
    if flags.prove {
        return match prove::run(flags, &document, console) {
            Err(error) if !sizing.is_workable() => {
                concluded(flags, (&deployment, &sizing), Err(error), console)
            }
            proved => proved,
        };
    }
    // A design that cannot be simulated is still sized.
    let simulated = predicted(flags, &deployment, document, console);
    concluded(flags, (&deployment, &sizing), simulated, console)
}

/// Answers with the design and its simulation, or with the reason why there is none.
fn concluded(
    flags: &SizeFlags,
    (deployment, sizing): (&Deployment, &Sizing),
    simulated: Result<Option<PredictedDesign>, CommandError>,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let (predicted, refused) = match simulated {
        Ok(predicted) => (predicted, None),
        Err(error) => (None, Some(error)),
    };
    let unsimulated = match refused.as_ref().and_then(CommandError::told) {
        Some((reason, _)) => Unsimulated::Refused(reason),
        None if designed::is_known(deployment) => Unsimulated::NotRequested,
        None => Unsimulated::UnknownDisks,
    };
    let predicted = predicted.as_ref();
    let sized = Sized { predicted, unsimulated, ..Sized::new(deployment, sizing) };
    shown(flags, sized, console)?;
    let code = sized.exit_code();
    match refused {
        Some(error) if sizing.is_workable() => return Err(error),
        // It violates a rule, so it fails without its simulation.
        Some(error) => predict::remark_refusal(error, console)?,
        None => {}
    }
    Ok(Outcome::of_exit_code(code))
}

/// Writes the page, and prints the answer or the explanations that the flags ask for.
fn shown(flags: &SizeFlags, sized: Sized<'_>, console: &mut Console) -> Result<(), CommandError> {
    if let Some(page) = &flags.html {
        let text = blueprint::sizing_html(sized, &[]);
        let inputs: Vec<&Path> = flags.deployment.iter().map(AsRef::as_ref).collect();
        let existing = Existing::of_flag(flags.force);
        documents::write(page, text.as_bytes(), existing, &inputs)?;
    }
    if flags.explain.is_empty() {
        answer(flags, sized, console)?;
    }
    for key in &flags.explain {
        console.answer_prose(&explained(sized, key)?)?;
    }
    Ok(())
}

/// Refuses a page under the name of another format.
fn expect_page_name(page: Option<&Path>) -> Result<(), CommandError> {
    let Some(page) = page else { return Ok(()) };
    match page.extension() {
        Some(of) if !of.eq_ignore_ascii_case("html") && !of.eq_ignore_ascii_case("htm") => {
            Err(CommandError::new(format!(
                "{}: --html writes a web page; name another file, one that ends in .html",
                page.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Simulates the design, if requested.
fn predicted(
    flags: &SizeFlags,
    deployment: &Deployment,
    document: (String, String),
    console: &mut Console,
) -> Result<Option<PredictedDesign>, CommandError> {
    let Some(folder) = &flags.predict else {
        return Ok(None);
    };
    let (provision, _) = super::plan::laid_out(deployment, None)?;
    let force = flags.force;
    let named = folder;
    let folder = if force { named.clone() } else { predict::free_folder(named) };
    if folder != *named {
        let [named, folder] = [named, &folder].map(|folder| folder.display());
        console.remark(format_args!("{named} has a prediction already; this one is {folder}."))?;
    }
    let order = PredictionOrder { folder, server: None, force, document };
    predict::of(deployment, &provision, &order, console).map(Some)
}

const fn outcome(workable: bool) -> Outcome {
    if workable { Outcome::Pass } else { Outcome::Fail }
}

fn answer(flags: &SizeFlags, sized: Sized<'_>, console: &mut Console) -> Result<(), CommandError> {
    let text = if flags.json {
        blueprint::sizing_json(sized)
    } else {
        blueprint::sizing_text_within(sized, console.text_width())
    };
    console.answer_prose(&text)?;
    if let Some(page) = &flags.html {
        console.remark(format_args!("Page: {}", page.display()))?;
    }
    Ok(())
}

fn explained(sized: Sized<'_>, key: &str) -> Result<String, CommandError> {
    blueprint::explain(sized, key).ok_or_else(|| {
        let nearest = sized.sizing.sheet.nearest(key);
        let hint = nearest.map_or_else(
            || "the report lists the keys".to_owned(),
            |nearest| format!("did you mean `{nearest}`? The report lists the keys"),
        );
        CommandError::new(format!("--explain {key}: this deployment has no such number; {hint}"))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::expect_page_name;

    #[test]
    fn a_page_is_not_written_under_the_name_of_another_format() {
        for (name, is_good) in
            [("a.html", true), ("a.HTM", true), ("a", true), ("a.pdf", false), ("a.toml", false)]
        {
            let said = expect_page_name(Some(Path::new(name)));
            let code = said.as_ref().err().and_then(|error| Some(error.told()?.1));
            assert_eq!(code, (!is_good).then_some(2), "{name}");
        }
    }
}
