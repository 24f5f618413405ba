//! Outputs of storcli and perccli, of releases up to 7 and from 8.0 on: JSON, and the text without
//! `J`, which is converted to the same members. Releases differ in names and nesting, so facts are
//! found by their own names wherever they are.

mod answer;
mod drives;
mod energy;
mod json;
mod rows;
mod status;
mod table;
mod text;

use serde_json::{Map, Value};

use super::{Controller, ControllerError, Output, Tool};

type Members = Map<String, Value>;

/// Whether a text contains a JSON document: a line that begins with a brace.
pub(super) fn is_json(text: &str) -> bool {
    json::begin_of_document(text).is_some()
}

/// The controllers in JSON output; a text may contain several documents.
pub(super) fn read_json(text: &str) -> Result<Output, ControllerError> {
    let (documents, unread) = json::documents(text)?;
    let mut answers: Vec<Value> = Vec::new();
    for document in documents {
        match document.get("Controllers").and_then(Value::as_array) {
            Some(more) => answers.extend(more.iter().cloned()),
            None => return Err(ControllerError::NotOfControllers),
        }
    }
    let mut controllers = of_answers(&answers);
    controllers.iter_mut().for_each(Controller::expect_sense);
    if controllers.is_empty() {
        return Err(failure(&answers).unwrap_or(ControllerError::Empty(Tool::Storcli)));
    }
    Ok(Output { controllers, unread })
}

/// The controllers of an output in text; `None` if the text is no such output.
pub(super) fn read_text(text: &str) -> Option<Result<Output, ControllerError>> {
    text.lines().any(text::begins).then(|| {
        let text::ParsedText { answers, unread, gaps } = text::parse(text);
        let mut controllers = of_answers(&answers);
        let Some(last) = controllers.last_mut() else {
            return Err(failure(&answers).unwrap_or(ControllerError::Empty(Tool::Storcli)));
        };
        last.gaps.extend(gaps);
        Ok(Output { controllers, unread })
    })
}

fn of_answers(answers: &[Value]) -> Vec<Controller> {
    answers.iter().filter_map(answer::controller).collect()
}

/// The tool's own error message.
fn failure(answers: &[Value]) -> Option<ControllerError> {
    answers.iter().find_map(|answer| {
        let status = answer.get("Command Status")?;
        let failed = word(status, "Status")? != "Success";
        let why = word(status, "Description").unwrap_or_else(|| "it does not say why".to_owned());
        failed.then_some(ControllerError::Failed(why))
    })
}

/// A member as words; releases differ in which members are numbers and which text.
fn word(value: &Value, name: &str) -> Option<String> {
    let member = value.get(name).or_else(|| {
        let members = value.as_object()?;
        members.iter().find(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, of)| of)
    })?;
    words_of(member)
}

fn words_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The drive after which a member is named: `VD238 Properties`.
fn number_in_name(name: &str) -> Option<&str> {
    let number = name.strip_prefix("VD")?.strip_suffix("Properties")?.trim();
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

#[cfg(test)]
mod tests;
