//! Errors below the seam, in words an operator can act on.

use std::fmt;

/// Why a request or a file operation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceError {
    /// No file of that name.
    NotFound {
        /// The file's path or name.
        file: String,
    },
    /// A file of that name exists already.
    AlreadyExists {
        /// The file's path or name.
        file: String,
    },
    /// The operating system refuses access.
    PermissionDenied {
        /// The file's path or name.
        file: String,
    },
    /// The file system is mounted read-only.
    ReadOnly {
        /// The file's path or name.
        file: String,
    },
    /// The path itself is invalid: too long, through a file, or a loop of symbolic links.
    BadPath {
        /// The file's path or name.
        file: String,
        /// The system's error message.
        message: String,
    },
    /// A folder, a pipe or a device instead of a file.
    NotAFile {
        /// The file's path or name.
        file: String,
    },
    /// Another process holds the file's lock.
    Locked {
        /// The file's path or name.
        file: String,
    },
    /// The device is mounted, or in use by something other than this program.
    Busy {
        /// The device.
        file: String,
    },
    /// The volume has no room.
    Full {
        /// The file's path or name.
        file: String,
        /// Byte offset of the refused write, or the refused length.
        offset: u64,
    },
    /// A raw device that was not formatted as a volume.
    NotAVolume {
        /// The device.
        file: String,
        /// Its contents: `nothing`, or the format that its first and last bytes indicate.
        holds: String,
    },
    /// A raw device that was formatted as a volume but cannot be trusted.
    VolumeDamaged {
        /// The device.
        file: String,
        /// The problem with it.
        problem: String,
    },
    /// The file system cannot do unbuffered I/O.
    Unbuffered {
        /// The file's path or name.
        file: String,
    },
    /// The device transferred fewer bytes than requested, as it does beyond the end of the file.
    Short {
        /// The file's path or name.
        file: String,
        /// Byte offset of the request.
        offset: u64,
        /// Bytes asked for.
        wanted: usize,
        /// Bytes moved.
        moved: usize,
    },
    /// The connection to a device broke, and the outcome of requests in flight is unknown.
    Disconnected {
        /// The device.
        file: String,
        /// The cause.
        why: String,
    },
    /// The device or the operating system reports an error.
    Io {
        /// The file's path or name.
        file: String,
        /// Byte offset of the request, 0 if it has none.
        offset: u64,
        /// The operation: `read`, `write`, `flush`, `open`, ...
        operation: &'static str,
        /// The system's error number, 0 if there is none.
        code: i32,
        /// The system's error message.
        message: String,
    },
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { file } => write!(f, "{file}: no such file; check the path"),
            Self::AlreadyExists { file } => {
                write!(f, "{file}: exists already; remove it or choose another folder")
            }
            Self::PermissionDenied { file } => {
                write!(f, "{file}: permission denied; run as a user who may read and write it")
            }
            Self::ReadOnly { file } => {
                write!(
                    f,
                    "{file}: the file system is mounted read-only; mount it for writing, or \
                     choose another place"
                )
            }
            Self::BadPath { file, message } => write!(f, "{file}: {message}; check the path"),
            Self::NotAFile { file } => {
                write!(f, "{file}: is a folder, a pipe or a device; name a file on a disk")
            }
            Self::Locked { file } => {
                write!(f, "{file}: in use by another plimsoll process; wait for it to end")
            }
            Self::Busy { file } => write!(
                f,
                "{file}: is mounted, or in use by the system or another program; name a device \
                 that nothing uses"
            ),
            Self::Full { file, offset } => {
                write!(
                    f,
                    "{file}: no space left on the volume at byte {offset}, or none that a quota or \
                     a limit of file sizes (ulimit -f) leaves; free some space or raise the limit"
                )
            }
            Self::NotAVolume { file, holds } => write!(
                f,
                "{file}: holds {holds}, not a volume of Plimsoll; check that it is the right \
                 device and, if all that is on it may be lost, run `plimsoll format` on it"
            ),
            Self::VolumeDamaged { file, problem } => write!(
                f,
                "{file}: the volume of Plimsoll on it cannot be used: {problem}; if all that is \
                 on it may be lost, run `plimsoll format --force` on it"
            ),
            Self::Unbuffered { file } => write!(
                f,
                "{file}: the file system does not support unbuffered I/O; \
                 choose a folder on a disk (ext4, XFS, NTFS, ReFS)"
            ),
            Self::Short { file, offset, wanted, moved } => write!(
                f,
                "{file}: {moved} of {wanted} bytes moved at byte {offset}; it may be truncated"
            ),
            Self::Disconnected { file, why } => write!(
                f,
                "{file}: {why}; nothing more is known of the storage behind it: look at the \
                 server and the network, then start again"
            ),
            Self::Io { file, offset, operation, code, message } => write!(
                f,
                "{file}: {operation} at byte {offset} failed: {message} (error {code}); \
                 check the disk and the system log"
            ),
        }
    }
}

impl DeviceError {
    /// Converts a device error to one of a file on the device, for a request at byte `offset` of
    /// the file.
    pub(crate) fn of_file(self, name: &str, offset: u64) -> Self {
        let file = name.to_owned();
        match self {
            Self::Short { wanted, moved, .. } => Self::Short { file, offset, wanted, moved },
            Self::Io { operation, code, message, .. } => {
                Self::Io { file, offset, operation, code, message }
            }
            Self::PermissionDenied { .. } => Self::PermissionDenied { file },
            error => error,
        }
    }
}

impl std::error::Error for DeviceError {}
