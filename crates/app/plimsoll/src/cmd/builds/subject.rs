//! The subject of `builds identify`: a version number, a name, or a file that contains version
//! numbers.

use std::io::Read as _;
use std::path::Path;

use builds::{BuildNumber, BuildTable, engine_of, file_version, mentions};
use ese::header::{PROBE_BYTES, read_copies};

use console::documents;
use console::error::CommandError;

/// Size limit of a file to search for version numbers.
const LARGEST_BYTES: u64 = 256 << 20;

/// A version or a database found in an argument.
pub(super) enum BuildSubject {
    /// A version and its place.
    Version {
        /// As typed, or file and line.
        place: String,
        version: BuildNumber,
        /// How often it occurs.
        count: usize,
    },
    /// A database file: its header identifies the engine, not the build.
    Database {
        place: String,
        format: (u32, u32),
        page_bytes: usize,
        /// The system that last had it open, as reported by the engine.
        system: String,
        engine: Option<&'static str>,
    },
}

/// Everything that `text` denotes: a path, a version, a name, or text that contains versions.
pub(super) fn subjects(table: &BuildTable, text: &str) -> Result<Vec<BuildSubject>, CommandError> {
    let path = Path::new(text);
    if path.exists() {
        return in_file(table, path);
    }
    let version = BuildNumber::parse(text).or_else(|| Some(table.named(text)?.version));
    if let Some(version) = version {
        let place = text.to_owned();
        let count = 1;
        return Ok(vec![BuildSubject::Version { place, version, count }]);
    }
    // The text may be a line of a log, a message header or the URL of a page.
    let quoted: Vec<BuildSubject> = mentions(table, text)
        .into_iter()
        .map(|mention| BuildSubject::Version {
            place: format!("{text}: {}", mention.text),
            version: mention.version,
            count: mention.count,
        })
        .collect();
    if !quoted.is_empty() {
        return Ok(quoted);
    }
    if let Some(why) = other_name(text) {
        return Err(CommandError::new(format!("{text}: {why}")));
    }
    Err(CommandError::new(format!(
        "{text}: is neither a version such as 15.1.2375.7 nor a name such as \"2016 CU22\" nor a \
         file, and holds no version; `plimsoll builds list` prints all names"
    )))
}

/// Why a name that Windows shows does not identify a build.
fn other_name(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    if lower.contains("windows") {
        return Some(
            "names Windows, and builds are of Exchange; name the version that Get-ExchangeServer \
             or ExSetup.exe shows",
        );
    }
    let is_update = ["security update", "hotfix"].iter().any(|word| lower.contains(word));
    if is_update && lower.contains("exchange") {
        return Some(
            "names an update by its article, which the table does not have; name the version of \
             ExSetup.exe, or the update as `plimsoll builds list` does",
        );
    }
    let is_bare = lower.contains("exchange server");
    is_bare.then_some(
        "names no build that is known here; name the version that Get-ExchangeServer or \
         ExSetup.exe shows, or one of `plimsoll builds list`",
    )
}

fn in_file(table: &BuildTable, path: &Path) -> Result<Vec<BuildSubject>, CommandError> {
    let place = path.display().to_string();
    let mut bytes = Vec::new();
    let read = CommandError::of_file(path, "read");
    let mut file = documents::open(path).map_err(read)?.take(LARGEST_BYTES + 1);
    file.by_ref().take(PROBE_BYTES as u64).read_to_end(&mut bytes).map_err(read)?;
    if let Ok(copies) = read_copies(&bytes) {
        return Ok(vec![database(place, &copies)]);
    }
    file.read_to_end(&mut bytes).map_err(read)?;
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(CommandError::new(format!(
            "{place}: is larger than 256 MiB; name a log, a report, a program or a database"
        )));
    }
    let found = match file_version(&bytes) {
        Some(version) => vec![BuildSubject::Version { place, version, count: 1 }],
        None => in_text(table, &place, &documents::decode(&bytes).text),
    };
    if found.is_empty() {
        return Err(CommandError::new(format!(
            "{}: holds no version number of Exchange; name a log, a report, a program or a \
             database",
            path.display()
        )));
    }
    Ok(found)
}

fn in_text(table: &BuildTable, place: &str, text: &str) -> Vec<BuildSubject> {
    mentions(table, text)
        .into_iter()
        .map(|mention| BuildSubject::Version {
            place: format!("{place}:{}: {}", mention.line, mention.text),
            version: mention.version,
            count: mention.count,
        })
        .collect()
}

fn database(place: String, copies: &ese::header::HeaderCopies) -> BuildSubject {
    let header = &copies.header;
    let format = (header.format_version, header.format_update);
    let page_bytes = copies.page_size.bytes();
    let system = &header.os_version;
    BuildSubject::Database {
        place,
        format,
        page_bytes,
        system: format!("{}.{}.{}", system.major, system.minor, system.build),
        engine: engine_of(format.0, format.1, page_bytes),
    }
}
