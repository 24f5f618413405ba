//! Validates the labels that users give a run afterwards, from a form or a file, so that a list can
//! show them.

use std::fmt;

use record::Start;
use serde_json::{Value, json};

/// Maximum length of a name or of a tag, in characters.
const LONGEST_WORD: usize = 64;

const MOST_TAGS: usize = 20;

/// Maximum length of a description, in characters.
const LONGEST_DESCRIPTION: usize = 1000;

/// Labels of a run that override those in its plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels {
    /// Name of the run; empty to keep the one in the record.
    pub name: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Anything worth knowing about it.
    pub description: String,
}

/// Why a list cannot show these labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnfitLabels {
    /// The name, a tag or the description is longer than this many characters.
    TooLong(&'static str, usize),
    /// There are too many tags.
    TooMany,
}

impl fmt::Display for UnfitLabels {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(what, most) => {
                write!(to, "the {what} is longer than {most} characters; shorten it")
            }
            Self::TooMany => write!(to, "there are more than {MOST_TAGS} tags; leave some out"),
        }
    }
}

impl std::error::Error for UnfitLabels {}

impl Labels {
    /// Parses the user's input: tags are separated by commas, and line ends become spaces.
    pub(crate) fn typed(name: &str, tags: &str, description: &str) -> Result<Self, UnfitLabels> {
        let tags = tags.split(',').map(one_line).filter(|tag| !tag.is_empty());
        let labels =
            Self { name: one_line(name), tags: tags.collect(), description: one_line(description) };
        fits("name", &labels.name, LONGEST_WORD)?;
        fits("description", &labels.description, LONGEST_DESCRIPTION)?;
        labels.tags.iter().try_for_each(|tag| fits("tag", tag, LONGEST_WORD))?;
        if labels.tags.len() > MOST_TAGS { Err(UnfitLabels::TooMany) } else { Ok(labels) }
    }

    /// Parses the file; `None` if it contains anything else.
    pub(crate) fn from_json(file: &[u8]) -> Option<Self> {
        let document: Value = serde_json::from_slice(file).ok()?;
        let members = document.as_object().filter(|members| members.len() == 3)?;
        let tags = members.get("tags")?.as_array()?.iter();
        Some(Self {
            name: members.get("name")?.as_str()?.to_owned(),
            tags: tags.map(|tag| tag.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            description: members.get("description")?.as_str()?.to_owned(),
        })
    }

    /// The labels as JSON, for the file.
    pub(crate) fn to_json(&self) -> String {
        let Self { name, tags, description } = self;
        format!("{:#}\n", json!({ "name": name, "tags": tags, "description": description }))
    }

    /// Overrides the labels in a record with these.
    pub(crate) fn put_on(self, start: &mut Start) {
        if !self.name.is_empty() {
            start.name = self.name;
        }
        start.tags = self.tags;
        start.description = self.description;
    }
}

/// Text without line ends and other control characters, trimmed.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

fn fits(what: &'static str, text: &str, most: usize) -> Result<(), UnfitLabels> {
    let is_fit = text.chars().count() <= most;
    is_fit.then_some(()).ok_or(UnfitLabels::TooLong(what, most))
}

#[cfg(test)]
mod tests {
    use super::Labels;
    use record::Start;

    #[test]
    fn what_is_typed_comes_back_over_the_names_in_the_record() {
        let typed = Labels::typed(" Array B ", "rack-3, ,new\ncache", "one\r\ntwo").unwrap();
        assert_eq!(typed.tags, ["rack-3", "new cache"]);
        assert_eq!(typed.description, "one  two");
        let kept = Labels::from_json(typed.to_json().as_bytes()).unwrap();
        assert_eq!(kept, typed);
        let mut start = Start { name: "array-a".to_owned(), ..Start::default() };
        kept.put_on(&mut start);
        assert_eq!((start.name.as_str(), &start.tags), ("Array B", &typed.tags));
        Labels::typed("", "", "").unwrap().put_on(&mut start);
        assert_eq!((start.name.as_str(), start.tags.len()), ("Array B", 0), "the name stays");
    }

    #[test]
    fn what_no_list_can_show_is_refused_with_the_remedy() {
        let long = "x".repeat(65);
        let tags = vec!["t"; 21].join(",");
        for (name, tags, part) in [(&*long, "", "name"), ("", &*long, "tag"), ("", &*tags, "20")] {
            let refused = Labels::typed(name, tags, "").unwrap_err();
            assert!(refused.to_string().contains(part), "{refused}");
        }
        assert_eq!(Labels::from_json(b"{\"colour\": \"red\"}"), None);
    }
}
