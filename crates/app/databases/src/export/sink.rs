//! Destination of a table's rows: the standard output, or a separate file.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use ese::catalog::CatalogTable;

use crate::export::flags::ExportFormat;
use console::Console;
use console::documents::{self, Existing};
use console::error::CommandError;

/// Maximum bytes of a table's name kept in a file name: file systems allow 255, including the
/// extension.
const LONGEST_NAME: usize = 180;

/// Destination of a table's lines.
pub(super) enum RowSink<'a> {
    Console(&'a mut Console, ExportFormat),
    File(PathBuf, BufWriter<File>),
    /// A pipe or a terminal that a path names.
    Stream(PathBuf, Box<dyn Write>),
}

impl RowSink<'_> {
    /// A new file at `path`. `existing` decides about an existing one.
    pub(super) fn create(path: PathBuf, existing: Existing) -> Result<Self, CommandError> {
        if existing == Existing::Replace {
            // Removed rather than overwritten: a link leads elsewhere, perhaps to the input.
            let _ = fs::remove_file(&path);
        }
        let file = File::create_new(&path);
        let file = file.map_err(|error| CommandError::file(&path, "write", &error))?;
        Ok(Self::File(path, BufWriter::new(file)))
    }

    /// Creates a file for the rows of one table of `database`; the path may also be a pipe.
    pub(super) fn create_beside(
        database: &Path,
        path: &Path,
        existing: Existing,
    ) -> Result<Self, CommandError> {
        documents::refuse_input(path, &[database])?;
        if let Some(stream) = documents::stream(path)? {
            return Ok(Self::Stream(path.to_path_buf(), stream));
        }
        if existing == Existing::Keep {
            refuse_existing(&[path.to_path_buf()])?;
        }
        documents::make_parents(path)?;
        Self::create(path.to_path_buf(), existing)
    }

    /// Removes a partially written file, since it reads like a complete one.
    pub(super) fn remove(&mut self) {
        if let Self::File(path, _) = self {
            let _ = fs::remove_file(path);
        }
    }

    pub(super) fn line(&mut self, line: &str) -> Result<(), CommandError> {
        match self {
            Self::Console(console, ExportFormat::Csv) => console.answer_data(line),
            Self::Console(console, ExportFormat::Jsonl) => console.answer_json_line(line),
            Self::File(path, file) => write(file, path, line),
            Self::Stream(path, stream) => write(stream, path, line),
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), CommandError> {
        match self {
            Self::Console(console, _) => console.flush(),
            Self::File(path, file) => {
                let flushed = file.flush();
                flushed.map_err(|error| CommandError::file(path, "write", &error))
            }
            Self::Stream(path, stream) => {
                stream.flush().map_err(|error| documents::stream_error(path, &error))
            }
        }
    }
}

fn write(to: &mut dyn Write, path: &Path, line: &str) -> Result<(), CommandError> {
    let written = to.write_all(line.as_bytes()).and_then(|()| to.write_all(b"\n"));
    written.map_err(|error| documents::stream_error(path, &error))
}

/// Returns the file of each table in `folder`: its name, with unsafe characters written as `%` and
/// two digits, plus its object number if the name is too long or already taken.
pub(super) fn file_names(
    tables: &[CatalogTable],
    folder: &Path,
    format: ExportFormat,
) -> Vec<PathBuf> {
    let ending = match format {
        ExportFormat::Csv => "csv",
        ExportFormat::Jsonl => "jsonl",
    };
    let mut taken = BTreeSet::new();
    let mut paths = Vec::new();
    for table in tables {
        let mut name = safe(&table.definition.name);
        // Some file systems are case-insensitive.
        if name.len() > LONGEST_NAME || !taken.insert(name.to_lowercase()) {
            name.truncate(LONGEST_NAME);
            name = format!("{name}%{}", table.place.object);
            taken.insert(name.to_lowercase());
        }
        paths.push(folder.join(format!("{name}.{ending}")));
    }
    paths
}

fn safe(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        let is_first = text.is_empty();
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => text.push(char::from(byte)),
            b'-' | b'.' | b' ' | b'{' | b'}' if !is_first => text.push(char::from(byte)),
            // Writing to memory does not fail.
            _ => _ = write!(text, "%{byte:02x}"),
        }
    }
    if text.is_empty() { "%".to_owned() } else { text }
}

/// Fails if any of `paths` exists and would be replaced.
pub(super) fn refuse_existing(paths: &[PathBuf]) -> Result<(), CommandError> {
    match paths.iter().find(|path| fs::symlink_metadata(path).is_ok()) {
        None => Ok(()),
        Some(path) => Err(CommandError::new(format!(
            "{}: is there already, and nothing is written over; remove it, name another, or say \
             --force",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn names_lead_nowhere_else() {
        assert_eq!(safe("Messages_1"), "Messages_1");
        assert_eq!(safe("../../etc/passwd"), "%2e.%2f..%2fetc%2fpasswd");
        assert_eq!(safe("-rf"), "%2drf");
        assert_eq!(safe("{D10A}"), "%7bD10A}");
        assert_eq!(safe(""), "%");
        assert_eq!(safe("\u{e9}\n"), "%c3%a9%0a");
    }
}
