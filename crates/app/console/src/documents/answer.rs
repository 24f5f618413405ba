//! Writes answers to the destination of `-o`: a file, whose parent folders are created, or standard
//! output, or a pipe or a terminal that a path names.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use host::documents::{already_there, create, replace};
use host::system;

use crate::error::{CommandError, output_error};

/// Names of the standard output.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// The file that `-o` names; `None` if it is absent or names standard output.
pub fn named_file(output: Option<&PathBuf>) -> Option<&Path> {
    output.map(PathBuf::as_path).filter(|path| !is_standard_output(path))
}

fn is_standard_output(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|name| path == Path::new(name))
}

/// Opens `path` for writing if it is a stream and not a file: standard output, a pipe, a terminal.
/// `None` otherwise.
pub fn stream(path: &Path) -> Result<Option<Box<dyn Write>>, CommandError> {
    if is_standard_output(path) {
        return Ok(Some(Box::new(BufWriter::new(io::stdout()))));
    }
    if !fs::metadata(path).is_ok_and(|facts| system::is_stream(facts.file_type())) {
        return Ok(None);
    }
    let opened = File::options().write(true).open(path);
    let opened = opened.map_err(CommandError::of_file(path, "write"))?;
    Ok(Some(Box::new(BufWriter::new(opened))))
}

/// Converts a failed write to a byte stream; a closed reader is no error.
pub fn stream_error(path: &Path, error: &io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => output_error(error),
        _ => CommandError::file(path, "write", error),
    }
}

/// How to treat an existing file at the path of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The file is kept, and the answer refused.
    Keep,
    /// The answer replaces it, as the user requested with `--force`.
    Replace,
}

impl Existing {
    /// The treatment that `--force` selects.
    pub const fn of_flag(force: bool) -> Self {
        if force { Self::Replace } else { Self::Keep }
    }
}

/// What to do about an existing file.
const REMEDY: &str = "remove it, name another, or say --force";

/// Refuses the path of an answer at which something exists already, before the work on the answer.
pub fn refuse_existing(path: &Path, existing: Existing) -> Result<(), CommandError> {
    let is_kept = existing == Existing::Keep && !is_standard_output(path);
    match fs::symlink_metadata(path) {
        Ok(facts) if is_kept && !system::is_stream(facts.file_type()) => {
            Err(already_there(path, REMEDY).into())
        }
        _ => Ok(()),
    }
}

/// Writes an answer made from `inputs` to a file that the user named. Never into an input, and
/// never through a symbolic link.
pub fn write(
    path: &Path,
    bytes: &[u8],
    existing: Existing,
    inputs: &[&Path],
) -> Result<(), CommandError> {
    refuse_input(path, inputs)?;
    if let Some(mut stream) = stream(path)? {
        let written = stream.write_all(bytes).and_then(|()| stream.flush());
        return written.map_err(|error| stream_error(path, &error));
    }
    match existing {
        Existing::Keep => Ok(create(path, bytes, REMEDY)?),
        Existing::Replace => Ok(replace(path, bytes)?),
    }
}

/// Refuses to overwrite an input of the answer.
pub fn refuse_input(path: &Path, inputs: &[&Path]) -> Result<(), CommandError> {
    match inputs.iter().find(|input| is_same_file(path, input)) {
        None => Ok(()),
        Some(input) => Err(CommandError::new(format!(
            "{}: is {}, which the answer is made from; name another file",
            path.display(),
            input.display()
        ))),
    }
}

fn is_same_file(one: &Path, two: &Path) -> bool {
    let [one, two] = [one, two].map(|path| system::identity(path).ok());
    one.is_some() && one == two
}
