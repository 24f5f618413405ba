//! The result of a simulated deployment. Its folder also has the fleet record of its hosts, which
//! is not judged anew: a rule for real hosts would contradict the simulation.

use std::fs;
use std::path::Path;

use console::error::CommandError;
use console::{Concluded, Console, Outcome};
use serde_json::Value;

const ANSWER: &str = "deployment.json";
const TEXT: &str = "deployment.txt";
const PAGE: &str = "deployment.html";

/// Reads the answer of the simulation in `folder`; `None` if there was no simulation.
pub fn answer(folder: &Path) -> Option<Value> {
    let text = fs::read_to_string(folder.join(ANSWER)).ok()?;
    let answer: Value = serde_json::from_str(&text).ok()?;
    (answer["kind"] == "simulated_deployment").then_some(answer)
}

/// The verdict of a simulation in one line.
pub(crate) fn headline(answer: &Value) -> String {
    let word = match outcome(answer) {
        Outcome::Pass => "SIMULATED PASS",
        Outcome::Fail => "SIMULATED FAIL",
        Outcome::CannotJudge => "SIMULATED CANNOT JUDGE",
    };
    format!("{word} on {}", answer["array"].as_str().unwrap_or("an array"))
}

/// The outcome that the simulation came to; a word of a later release is no pass.
fn outcome(answer: &Value) -> Outcome {
    match answer["verdict"].as_str() {
        Some("simulated_pass") => Outcome::Pass,
        Some("simulated_fail") => Outcome::Fail,
        _ => Outcome::CannotJudge,
    }
}

/// Prints the result that the simulation left in `folder`.
pub(crate) fn show(
    (folder, answer): (&Path, &Value),
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let outcome = outcome(answer);
    console.conclude(Concluded {
        folder: folder.to_path_buf(),
        name: answer["name"].as_str().unwrap_or_default().to_owned(),
        verdict: outcome.word(),
        headline: headline(answer),
    });
    if json {
        console.answer_json_line(&answer.to_string())?;
        return Ok(outcome);
    }
    let path = folder.join(TEXT);
    let text = fs::read_to_string(&path).map_err(CommandError::of_file(&path, "read"))?;
    console.answer(text.trim_end())?;
    console.answer(format_args!("Report: {}", folder.join(PAGE).display()))?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::headline;

    #[test]
    fn the_verdict_is_that_of_the_simulation() {
        let of = |verdict: &str| headline(&json!({ "verdict": verdict, "array": "a shelf" }));
        assert_eq!(of("simulated_pass"), "SIMULATED PASS on a shelf");
        assert_eq!(of("simulated_fail"), "SIMULATED FAIL on a shelf");
        assert_eq!(of("simulated_cannot_judge"), "SIMULATED CANNOT JUDGE on a shelf");
    }
}
