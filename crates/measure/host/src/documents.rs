//! Files named by the user: plans in, reports out.

mod decode;
mod whole;

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use plan::{Deployment, Overrides, Plan, VolumeSize};
use time::OffsetDateTime;
use time::macros::format_description;
use units::Bytes;

pub use decode::decode;
pub use whole::{
    already_there, create, make_folder, make_new_folder, make_parents, replace, write_new,
};

use crate::error::HostError;
use crate::{system, target};

/// Limit for plans and deployments: 256 databases or 100 tiers take a tenth of it.
const LONGEST_TEXT: u64 = 1 << 20;
/// Limit for configurations and results of other tools.
const LONGEST_DOCUMENT: u64 = 16 << 20;
/// Limit for an administrator's logs and reports, which must fit into memory.
const LONGEST_DATA: u64 = 4 << 30;

/// Reads the plan at `path` with the command line's overrides. Database sizes may be shares of
/// their folders' volumes.
pub fn read_plan(path: &Path, overrides: &Overrides) -> Result<Plan, HostError> {
    let (file, text) = read_text(path)?;
    let volume_of = overrides.volume_of.or(Some(volume_of));
    Ok(Plan::parse_with(&file, &text, &Overrides { volume_of, ..overrides.clone() })?)
}

/// Returns the volume size of an existing folder.
fn volume_of(folder: &str) -> Result<VolumeSize, String> {
    match target::facts(Path::new(folder)) {
        Ok(facts) if facts.total_bytes > 0 => {
            Ok(VolumeSize { volume: facts.mount_point, total: Bytes(facts.total_bytes) })
        }
        Ok(_) => Err(format!(
            "is a share of the volume of {folder}, whose size is not known; give `size`"
        )),
        Err(error) => Err(format!(
            "is a share of the volume of {folder}: {error}; make the folder, or give `size`"
        )),
    }
}

/// Reads the deployment at `path`.
pub fn read_deployment(path: &Path) -> Result<Deployment, HostError> {
    let (file, text) = read_text(path)?;
    Ok(Deployment::parse(&file, &text)?)
}

/// Returns the name and text of a user-written document.
pub fn read_text(path: &Path) -> Result<(String, String), HostError> {
    let bytes = read(path, LONGEST_TEXT)?;
    Ok((path.display().to_string(), exact(path, &bytes)?))
}

/// The text of a file, which must be entirely valid UTF-8 or UTF-16.
fn exact(path: &Path, bytes: &[u8]) -> Result<String, HostError> {
    let decoded = decode(bytes);
    if !decoded.is_exact {
        let what = "it is neither UTF-8 nor UTF-16";
        let error = io::Error::new(io::ErrorKind::InvalidData, what);
        return Err(HostError::file(path, "read", &error));
    }
    Ok(decoded.text.into_owned())
}

/// The text of an administrator's log or report. Characters in another code page occur only in
/// names, and are replaced.
pub fn read_data(path: &Path) -> Result<String, HostError> {
    Ok(decode(&read(path, LONGEST_DATA)?).text.into_owned())
}

/// The text of a tool's output, read like [`read_data`].
pub(crate) fn read_output(path: &Path) -> Result<String, HostError> {
    Ok(decode(&read_document(path)?).text.into_owned())
}

/// Returns the text of another tool's document.
pub fn read_foreign(path: &Path) -> Result<String, HostError> {
    exact(path, &read_document(path)?)
}

/// Returns the bytes of another tool's document.
pub fn read_document(path: &Path) -> Result<Vec<u8>, HostError> {
    read(path, LONGEST_DOCUMENT)
}

/// Reads a file or a pipe. A device such as `/dev/zero` has no end, so devices are refused.
fn read(path: &Path, longest: u64) -> Result<Vec<u8>, HostError> {
    let wrong = HostError::of_file(path, "read");
    let mut bytes = Vec::new();
    let kind = fs::metadata(path).map_err(wrong)?.file_type();
    if system::is_device(kind) {
        let problem = "it is a device";
        return Err(wrong(io::Error::new(io::ErrorKind::InvalidInput, problem)));
    }
    let file = fs::File::open(path).map_err(wrong)?;
    file.take(longest + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() as u64 > longest {
        return Err(HostError::new(format!(
            "{}: is longer than {}, as no such document is; name the right file",
            path.display(),
            Bytes(longest)
        )));
    }
    Ok(bytes)
}

/// Opens a file for reads. Opening a pipe would wait for its other end, and a device
/// has no length.
pub fn open(path: &Path) -> io::Result<fs::File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        fs::File::open(path)
    } else if kind.is_dir() {
        // Windows would report access denied; other systems fail only on read.
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        let problem = "it is a pipe or a device";
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }
}

/// Returns a new folder in `parent`, named after the run, whose name a plan has checked, and the
/// current time.
pub fn dated_folder(parent: &Path, name: &str) -> PathBuf {
    let format = format_description!("[year][month][day]-[hour][minute][second]");
    // No component of the format can fail.
    let moment = OffsetDateTime::now_utc().format(format).unwrap_or_default();
    // Spaces would have to be quoted wherever the folder is typed.
    let word = name.replace(char::is_whitespace, "-");
    parent.join(format!("run-{word}-{moment}"))
}
