//! Schema 1: one JSON object per line, with an `event` member that identifies the [`Event`].
//!
//! The last member of a line, `chain`, seals it ([`super::Sealer`]); journals of the first programs
//! have none. Readers ignore unknown members, so members may be added without a new version. A new
//! event, series or phase, or a new meaning of a member, needs a new version.

use std::fmt;

use serde::Deserialize;

use crate::Event;
use crate::codec::SCHEMA;

/// Why a line is not an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The line is not the JSON of an event.
    NotAnEvent(String),
    /// The journal was written by a newer program.
    NewerSchema {
        /// Version in the journal.
        found: u32,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnEvent(why) => write!(f, "not an event of a journal: {why}"),
            Self::NewerSchema { found } => write!(
                f,
                "the journal has schema {found}, this program reads up to {SCHEMA}: \
                 use the program version that wrote it, or a newer one"
            ),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Encodes an event as a line, with its line feed.
pub fn encode(event: &Event) -> String {
    let mut line = serde_json::to_string(event)
        .expect("invariant: events have text keys and finite numbers or none");
    line.push('\n');
    line
}

/// The event of a line.
pub fn decode(line: &str) -> Result<Event, DecodeError> {
    match serde_json::from_str(line) {
        Ok(Event::Start(start)) if start.schema > SCHEMA => {
            Err(DecodeError::NewerSchema { found: start.schema })
        }
        Ok(event) => Ok(event),
        Err(error) => {
            Err(newer_schema(line).unwrap_or_else(|| DecodeError::NotAnEvent(error.to_string())))
        }
    }
}

/// A start of a newer schema may lack members that this one needs, and must then be refused as
/// newer.
fn newer_schema(line: &str) -> Option<DecodeError> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let Version { schema } = serde_json::from_str(line).ok()?;
    (schema > SCHEMA).then_some(DecodeError::NewerSchema { found: schema })
}

#[cfg(test)]
mod tests {
    use super::{DecodeError, decode, encode};
    use crate::{Event, Start};

    #[test]
    fn members_that_are_not_known_are_ignored() {
        let line = r#"{"event":"log","at_ns":7,"text":"hello","colour":"green"}"#;
        let Ok(Event::Log(log)) = decode(line) else {
            panic!("a log line with one more member is a log line");
        };
        assert_eq!((log.at_ns, log.text.as_str()), (7, "hello"));
    }

    #[test]
    fn newer_journals_are_refused_by_their_version() {
        let newer = Event::Start(Box::new(Start { schema: 2, ..Start::default() }));
        let whole = decode(&encode(&newer)).unwrap_err();
        let lacking = decode(r#"{"event":"start","schema":9,"made_of":"cheese"}"#).unwrap_err();
        assert_eq!(whole, DecodeError::NewerSchema { found: 2 });
        assert_eq!(lacking, DecodeError::NewerSchema { found: 9 });
        assert!(whole.to_string().contains("reads up to 1"), "{whole}");
    }

    #[test]
    fn what_is_not_json_is_not_an_event() {
        let error = decode("Jetstress").unwrap_err();
        assert!(matches!(error, DecodeError::NotAnEvent(_)), "{error}");
    }
}
