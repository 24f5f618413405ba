//! Why a configuration file cannot be read or must not be changed.

use std::fmt;

use crate::setting_kind::SettingKind;

/// Place and kind of a lock on `maxAllowedContentLength`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The file with the lock.
    pub file: String,
    /// The line with the lock.
    pub line: u32,
    /// The attribute that locks it.
    pub by: &'static str,
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, by } = self;
        write!(
            f,
            "{} is locked by {by} in {file}, line {line}; a web.config that sets it stops the \
             application (HTTP 500.19)",
            SettingKind::ContentLength
        )
    }
}

/// An error in a configuration file; every variant names the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The file is not text in UTF-8.
    NotText {
        /// The file.
        file: String,
    },
    /// The file is not well-formed XML.
    NotXml {
        /// The file.
        file: String,
        /// The parser's message, with line and column.
        problem: String,
    },
    /// The root is not `configuration`.
    NotConfiguration {
        /// The file.
        file: String,
        /// The actual root element.
        root: String,
    },
    /// A section lies in another file or is encrypted.
    Elsewhere {
        /// The file.
        file: String,
        /// Line of the section.
        line: u32,
        /// The section.
        section: String,
    },
    /// A section appears twice but must be unique.
    Twice {
        /// The file.
        file: String,
        /// Lines of both occurrences.
        lines: (u32, u32),
        /// The section.
        section: String,
    },
    /// A limit is no number.
    NoNumber {
        /// The file.
        file: String,
        /// Line of the setting.
        line: u32,
        /// The setting.
        setting: &'static str,
        /// The text found.
        found: String,
    },
    /// No section can take a new setting.
    NoPlace {
        /// The file.
        file: String,
        /// The section that is missing, or that lacks an end tag.
        section: &'static str,
    },
    /// The planned edits would not yield the requested limit.
    NotUnderstood {
        /// The file.
        file: String,
        /// The setting that would differ.
        setting: &'static str,
    },
    /// A file above the application's forbids the change.
    Locked {
        /// Site and path of the application.
        location: String,
        /// The lock.
        lock: Lock,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText { file } => write!(f, "{file}: is not text in UTF-8; save it as such"),
            Self::NotXml { file, problem } => write!(
                f,
                "{file}: is not XML as configuration files are: {problem}; correct it or restore a \
                 backup"
            ),
            Self::NotConfiguration { file, root } => {
                write!(f, "{file}: begins with <{root}>, not <configuration>; name a web.config")
            }
            Self::Elsewhere { file, line, section } => write!(
                f,
                "{file}: line {line}: <{section}> is kept in another file or encrypted, which is \
                 not followed; put the section in its place first"
            ),
            Self::Twice { file, lines: (first, second), section } => write!(
                f,
                "{file}: <{section}> stands in line {first} and again in line {second}; remove one"
            ),
            Self::NoNumber { file, line, setting, found } => {
                write!(f, "{file}: line {line}: {setting} is {found:?}, not a number; correct it")
            }
            Self::NoPlace { file, section } => write!(
                f,
                "{file}: has no <{section}> with an end of its own to put the limit into; add one"
            ),
            Self::NotUnderstood { file, setting } => write!(
                f,
                "{file}: {setting} would not have the wanted value after the change, so nothing is \
                 changed; set it by hand"
            ),
            Self::Locked { location, lock } => write!(
                f,
                "{location}: {lock}; nothing is changed: set the limit where it is locked, or \
                 unlock it there"
            ),
        }
    }
}

impl std::error::Error for ConfigError {}
