//! Saved outputs in the answer: when each was written, since settings may have changed later, and
//! how much of it was understood.

use std::time::{Duration, SystemTime};

use device::Clock as _;
use device_os::OsClock;
use host::look::OutputFile;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use units::plural;

/// A line and a value for each file.
pub(super) fn of_files(files: &[OutputFile]) -> (Vec<String>, Vec<Value>) {
    let now = SystemTime::UNIX_EPOCH + Duration::from_nanos(OsClock::new().epoch().0);
    let mut lines: Vec<String> = files.iter().map(|file| line(file, now)).collect();
    if !lines.is_empty() {
        lines.push(String::new());
    }
    (lines, files.iter().map(as_json).collect())
}

fn line(file: &OutputFile, now: SystemTime) -> String {
    let age = file.saved.and_then(|saved| now.duration_since(saved).ok());
    let saved = match (file.saved.and_then(written), age) {
        (Some(at), Some(age)) => format!("saved {at}, {} ago", in_words(age.as_secs())),
        (Some(at), None) => format!("saved {at}, later than now"),
        (None, _) => "its age is not known".to_owned(),
    };
    format!("{:<16} {}: {saved}", "output", file.path.display())
}

fn written(saved: SystemTime) -> Option<String> {
    let at = OffsetDateTime::from(saved).replace_nanosecond(0).ok()?;
    at.format(&Rfc3339).ok()
}

/// Formats only the largest unit; the rest changes no decision.
fn in_words(seconds: u64) -> String {
    match seconds {
        0..120 => plural(seconds, "second"),
        120..7200 => plural(seconds / 60, "minute"),
        7200..172_800 => plural(seconds / 3600, "hour"),
        _ => plural(seconds / 86_400, "day"),
    }
}

fn as_json(file: &OutputFile) -> Value {
    let unread: Vec<Value> =
        file.unread.iter().map(|line| json!({ "line": line.number, "text": line.text })).collect();
    json!({
        "file": file.path.display().to_string(),
        "saved": file.saved.and_then(written),
        "not_understood": unread,
    })
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn ages_are_said_in_the_largest_unit() {
        for (seconds, words) in [
            (1, "1 second"),
            (119, "119 seconds"),
            (7199, "119 minutes"),
            (7200, "2 hours"),
            (8 * 86_400 + 5, "8 days"),
        ] {
            assert_eq!(in_words(seconds), words);
        }
    }
}
