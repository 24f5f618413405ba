//! A version number of Exchange, parsed from any of its notations.

use std::fmt;

/// Added to the build number in the `serialNumber` attribute of Active Directory: version
/// 15.1.2507.6 is stored as `Version 15.1 (Build 32507.6)`.
const DIRECTORY_OFFSET: u32 = 30_000;

/// A version number, ordered like releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildNumber {
    /// 15 in 15.1.2375.7.
    pub major: u32,
    /// 1 in 15.1.2375.7.
    pub minor: u32,
    /// 2375 in 15.1.2375.7.
    pub build: u32,
    /// 7 in 15.1.2375.7; `None` if the text omits it, as paths of Outlook on the web do.
    pub revision: Option<u32>,
}

impl BuildNumber {
    /// The version in `text`: `15.1.2375.7`, `15.1.2375` or `Version 15.1 (Build 2375.7)`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::in_words(text.trim()).or_else(|| Self::dotted(text.trim()))
    }

    /// Three or four numbers separated by dots.
    pub(crate) fn dotted(text: &str) -> Option<Self> {
        let numbers = numbers(text)?;
        let (&[major, minor, build], rest) = numbers.split_first_chunk()?;
        let revision = match rest {
            [] => None,
            [revision] => Some(*revision),
            _ => return None,
        };
        Some(Self { major, minor, build, revision })
    }

    /// The form of `AdminDisplayVersion` and of the directory.
    fn in_words(text: &str) -> Option<Self> {
        let text = text.strip_prefix("Version ").unwrap_or(text);
        let (product, build) = text.strip_suffix(')')?.split_once(" (Build ")?;
        let [major, minor] = numbers(product)?.try_into().ok()?;
        let [build, revision] = numbers(build)?.try_into().ok()?;
        Some(Self {
            major,
            minor,
            build: build.checked_sub(DIRECTORY_OFFSET).unwrap_or(build),
            revision: Some(revision),
        })
    }

    /// Whether the number ends in zeros, as `14.0.0.0` does: no build has such a number.
    pub(crate) fn is_product(self) -> bool {
        (self.minor, self.build, self.revision) == (0, 0, Some(0))
    }

    /// Whether both belong to the same series, such as 15.1.
    pub(crate) fn same_series(self, other: Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
    }

    /// Whether both come from one branch of the source: only the last number may differ.
    pub(crate) fn same_branch(self, other: Self) -> bool {
        self.same_series(other) && self.build == other.build
    }
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(number).collect()
}

/// Six digits at most, and no sign.
fn number(text: &str) -> Option<u32> {
    let is_number = text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

impl fmt::Display for BuildNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.build)?;
        match self.revision {
            Some(revision) => write!(f, ".{revision}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BuildNumber;

    #[test]
    fn every_form_is_one_version() {
        let forms = [
            "15.1.2375.7",
            "15.01.2375.007",
            " 15.1.2375.7\n",
            "Version 15.1 (Build 2375.7)",
            "15.1 (Build 2375.7)",
            "Version 15.1 (Build 32375.7)",
        ];
        for form in forms {
            let version = BuildNumber::parse(form).unwrap();
            assert_eq!(version.to_string(), "15.1.2375.7", "{form}");
        }
        assert_eq!(BuildNumber::parse("15.2.922").unwrap().revision, None);
    }

    #[test]
    fn other_text_is_none() {
        let texts = [
            "",
            "15",
            "15.1",
            "15.1.2375.7.1",
            "15.1.x.7",
            "15..1.2",
            "15.1.-3.7",
            "15.1.4294967296.1",
            "Version 15.1 (Build 2375.7",
            "(Build )",
            "\u{661}5.1.2375.7",
        ];
        for text in texts {
            assert_eq!(BuildNumber::parse(text), None, "{text}");
        }
    }
}
