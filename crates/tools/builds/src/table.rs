//! The table of builds: embedded, or a newer one in the same columns.

use std::fmt;

use csv::{ReaderBuilder, StringRecord};

use crate::number::BuildNumber;
use crate::release::{Release, ReleaseKind};

/// The built-in table of builds.
const EMBEDDED: &str = include_str!("../data/exchange-builds.csv");
/// The day on which the sources of [`EMBEDDED`] were last read.
const EMBEDDED_DATE: &str = "2026-08-20";

/// Required columns of the first line, in any order.
const COLUMNS: [&str; 12] = [
    "product",
    "level",
    "kind",
    "update",
    "build",
    "release_date",
    "schema_range_upper",
    "org_object_version",
    "meso_object_version",
    "extended_support_end",
    "sources",
    "notes",
];

/// Why a file is not a table of builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildTableError {
    /// The first line lacks a column.
    NoColumn(&'static str),
    /// A line cannot be parsed.
    Line {
        /// Counted from 1.
        line: u64,
        /// The reason, in words.
        problem: String,
    },
    /// The header is the only line.
    Empty,
}

impl fmt::Display for BuildTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoColumn(name) => write!(
                f,
                "there is no column {name}; the first line of a table names its columns: {}",
                COLUMNS.join(", ")
            ),
            Self::Line { line, problem } => write!(f, "line {line}: {problem}; correct the line"),
            Self::Empty => f.write_str("it holds no build; name a table with lines"),
        }
    }
}

impl std::error::Error for BuildTableError {}

/// Builds in order of their numbers; never empty.
#[derive(Clone, Debug)]
pub struct BuildTable {
    releases: Vec<Release>,
    date: String,
}

impl BuildTable {
    /// The table that is part of the program.
    pub fn embedded() -> Self {
        let mut table = Self::parse(EMBEDDED).expect("the embedded table is tested");
        EMBEDDED_DATE.clone_into(&mut table.date);
        table
    }

    /// Reads a table with the same columns, in any order, from CSV.
    pub fn parse(text: &str) -> Result<Self, BuildTableError> {
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
        let headers = reader.headers().map_err(|error| broken(&error))?.clone();
        let places = places(&headers)?;
        let mut releases = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| broken(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            let release = release(&record, &places);
            releases.push(release.map_err(|problem| BuildTableError::Line { line, problem })?);
        }
        releases.sort_by_key(|release| release.version);
        let newest = releases.iter().map(|release| release.released.as_str());
        let date = newest.max().ok_or(BuildTableError::Empty)?.to_owned();
        Ok(Self { releases, date })
    }

    /// The day of the data: when its sources were read, or its newest release if the table is not
    /// the embedded one.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// All builds, lowest number first.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The build with the common name `name`, such as `2016 CU23`, or its name in Windows' list of
    /// programs: `Microsoft Exchange Server 2019 Cumulative Update 14`.
    pub fn named(&self, name: &str) -> Option<&Release> {
        let mut wanted = words(name);
        self.called(&wanted).or_else(|| {
            // The article number identifies security updates; for others the name decides.
            let is_security = wanted.iter().any(|word| SECURITY.contains(&word.as_str()));
            if is_security && wanted.iter().any(|word| is_article(word)) {
                wanted.retain(|word| !SECURITY.contains(&word.as_str()));
            } else {
                wanted.retain(|word| !is_article(word));
            }
            self.called(&wanted)
        })
    }

    fn called(&self, wanted: &[String]) -> Option<&Release> {
        self.releases.iter().find(|release| words(&release.name()) == wanted)
    }
}

fn is_article(word: &str) -> bool {
    word.starts_with("kb")
}

/// The table's abbreviations as spelled out by Windows and on Microsoft's pages.
const SPELLINGS: [(&str, &str); 8] = [
    ("cumulative update", "cu"),
    ("service pack", "sp"),
    ("update rollup", "ru"),
    ("rollup", "ru"),
    ("subscription edition", "se"),
    ("release to manufacturing", "rtm"),
    ("\u{ae}", " "),
    ("\u{a0}", " "),
];

/// Windows' words for updates that the table names by KB article.
const SECURITY: [&str; 3] = ["security", "update", "hotfix"];

/// The distinguishing words of a name, sorted: all names contain `Exchange` and `Server`, and the
/// list of programs of Windows has `Update Rollup 10 for Exchange Server 2010 Service Pack 3
/// (KB123456)`.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let spelled = SPELLINGS.iter().fold(lower, |text, (long, short)| text.replace(long, short));
    let mut words: Vec<String> = Vec::new();
    for word in spelled.split_whitespace() {
        let is_level = words.last().is_some_and(|last| matches!(last.as_str(), "cu" | "sp" | "ru"));
        match word {
            "microsoft" | "exchange" | "server" | "for" | "-" => {}
            number if is_level && number.bytes().all(|byte| byte.is_ascii_digit()) => {
                let last = words.len() - 1;
                words[last].push_str(number);
            }
            word => words.push(word.trim_matches(['(', ')']).to_owned()),
        }
    }
    words.sort_unstable();
    words
}

fn broken(error: &csv::Error) -> BuildTableError {
    BuildTableError::Line {
        line: error.position().map_or(1, csv::Position::line),
        problem: error.to_string(),
    }
}

fn places(headers: &StringRecord) -> Result<[usize; COLUMNS.len()], BuildTableError> {
    let mut places = [0; COLUMNS.len()];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        let found = headers.iter().position(|header| header.trim() == name);
        *place = found.ok_or(BuildTableError::NoColumn(name))?;
    }
    Ok(places)
}

fn release(record: &StringRecord, places: &[usize; COLUMNS.len()]) -> Result<Release, String> {
    let fields = places.map(|place| record.get(place).unwrap_or("").trim());
    let [product, level, kind, update, build, released, ..] = fields;
    let [.., schema, organization, domain, support_end, sources, note] = fields;
    let version = BuildNumber::parse(build).filter(|version| version.revision.is_some());
    Ok(Release {
        product: product.to_owned(),
        level: level.to_owned(),
        kind: ReleaseKind::named(kind)
            .ok_or_else(|| format!("kind is {kind:?}, not one such as CU"))?,
        update: update.to_owned(),
        version: version.ok_or_else(|| format!("build is {build:?}, not four numbers"))?,
        released: date(released, "release_date")?,
        schema: number(schema, "schema_range_upper")?,
        organization: number(organization, "org_object_version")?,
        domain: number(domain, "meso_object_version")?,
        support_end: date(support_end, "extended_support_end")?,
        sources: sources.to_owned(),
        note: note.to_owned(),
    })
}

fn number(text: &str, column: &str) -> Result<Option<u32>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse().map(Some);
    number.map_err(|_| format!("{column} is {text:?}, not a number"))
}

/// Checks a date: `2026-08-11` or `2026-08`.
fn date(text: &str, column: &str) -> Result<String, String> {
    let shape: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    if matches!(shape.as_str(), "0000-00-00" | "0000-00") {
        return Ok(text.to_owned());
    }
    Err(format!("{column} is {text:?}, not a date such as 2026-08-11"))
}
