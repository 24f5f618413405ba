//! Why storage without a file system cannot be used, each as one sentence.

use std::fmt;
use std::io;

use device::DeviceError;
use device_net::{IscsiAddress, IscsiError, NbdError};

use super::login::LoginError;

/// See the module.
#[derive(Debug)]
pub enum TargetError {
    /// Error of the storage, or of the volume on it.
    Device(DeviceError),
    /// An export was not opened.
    Export(NbdError),
    /// A LUN was not opened.
    Lun(IscsiError),
    /// No credentials for the login.
    Login(LoginError),
    /// An address that does not name an export.
    NoAddress(String),
    /// No file of that name exists on a volume.
    NoFile {
        /// Its name on the device; empty if the device itself was named.
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
            Self::Lun(error) => error.fmt(f),
            Self::Login(error) => error.fmt(f),
            Self::NoAddress(text) if IscsiAddress::is_meant(text) => write!(
                f,
                "{}: names no LUN; write iscsi://[USER@]HOST[:PORT]/IQN/NUMBER, and its secret \
                 into the environment alone; `plimsoll inspect iscsi://[USER@]HOST` lists LUNs",
                // The part before the sign may be a secret.
                text.rsplit_once('@').map_or(text.as_str(), |(_, rest)| rest)
            ),
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

impl From<IscsiError> for TargetError {
    fn from(error: IscsiError) -> Self {
        Self::Lun(error)
    }
}

impl From<LoginError> for TargetError {
    fn from(error: LoginError) -> Self {
        Self::Login(error)
    }
}

/// Whether the error means that the storage cannot be reached any more.
pub(crate) fn is_cut_off(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref::<TargetError>());
    matches!(error, Some(TargetError::Device(DeviceError::Disconnected { .. })))
}

/// For code that uses the standard library's errors, which distinguish missing files from other
/// errors.
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

    use device::DeviceError;

    use super::{TargetError, is_cut_off};

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
        let (file, why) = ("nbd://array".to_owned(), "closed".to_owned());
        let cut_off = TargetError::Device(DeviceError::Disconnected { file, why });
        assert!(is_cut_off(&cut_off.into()) && !is_cut_off(&missing("", &[]).into()));
        let other = io::Error::from(TargetError::NoAddress("nbd://".to_owned()));
        assert_eq!(other.kind(), io::ErrorKind::Other);
    }
}
