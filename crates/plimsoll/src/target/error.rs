//! Why storage without a file system cannot be used, each as one sentence.

use std::fmt;
use std::io;

use device::DeviceError;
use device_net::NbdError;

/// See the module.
#[derive(Debug)]
pub(crate) enum TargetError {
    /// What the storage, or the volume on it, says.
    Device(DeviceError),
    /// An export was not opened.
    Export(NbdError),
    /// An address that names no export.
    NoAddress(String),
    /// There is no file of that name on a volume.
    NoFile {
        /// Its name on the device; empty where the device itself was named.
        file: String,
        /// The device.
        device: String,
        /// Databases in the same folder.
        databases: Vec<String>,
    },
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => error.fmt(f),
            Self::Export(error) => error.fmt(f),
            Self::NoAddress(text) => write!(
                f,
                "{text}: names no export; write nbd://HOST/EXPORT, nbd://HOST:PORT/EXPORT or \
                 nbd+unix:///EXPORT?socket=PATH"
            ),
            Self::NoFile { file, device, databases } => {
                match file.as_str() {
                    "" => write!(f, "{device}: is a whole device; name a file on it")?,
                    file => write!(f, "{device}/{file}: there is no such file on {device}")?,
                }
                match &databases[..] {
                    [] => f.write_str("; no database is there: fill some with `plimsoll prepare`"),
                    [first] => write!(f, "; the one database there is {first}"),
                    [first, .., last] => {
                        let count = databases.len();
                        write!(f, "; {count} databases are there, {first} to {last}")
                    }
                }
            }
        }
    }
}

impl std::error::Error for TargetError {}

impl From<DeviceError> for TargetError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl From<NbdError> for TargetError {
    fn from(error: NbdError) -> Self {
        Self::Export(error)
    }
}

/// For readers of the standard library, which tell a missing file from others.
impl From<TargetError> for io::Error {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::NoFile { .. } => Self::new(io::ErrorKind::NotFound, error),
            error => Self::other(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::TargetError;

    #[test]
    fn a_missing_file_is_told_with_what_there_is_and_known_as_missing() {
        let missing = |file: &str, databases: &[&str]| TargetError::NoFile {
            file: file.to_owned(),
            device: "raw:disk".to_owned(),
            databases: databases.iter().map(|&database| database.to_owned()).collect(),
        };
        for (file, databases, wanted) in [
            (
                "none.edb",
                &["a.edb", "b.edb", "c.edb"][..],
                "raw:disk/none.edb: there is no such file on raw:disk; 3 databases are there, \
                 a.edb to c.edb",
            ),
            (
                "",
                &["a.edb"],
                "raw:disk: is a whole device; name a file on it; the one database there is a.edb",
            ),
            (
                "none.edb",
                &[],
                "raw:disk/none.edb: there is no such file on raw:disk; no database is there: fill \
                 some with `plimsoll prepare`",
            ),
        ] {
            assert_eq!(missing(file, databases).to_string(), wanted);
        }
        assert_eq!(io::Error::from(missing("", &[])).kind(), io::ErrorKind::NotFound);
        let other = io::Error::from(TargetError::NoAddress("nbd://".to_owned()));
        assert_eq!(other.kind(), io::ErrorKind::Other);
    }
}
