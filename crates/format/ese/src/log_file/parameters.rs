//! The run-time parameters that an engine writes into the headers of logs and checkpoints.

use crate::bytes::u32_at;

/// Bytes of each of the two paths; a path ends with its first zero.
const PATH_BYTES: usize = 261;
const FLAGS: usize = 2 * PATH_BYTES;
const NUMBERS: usize = FLAGS + 1;
/// Bytes of all parameters, the reserve included.
pub(super) const PARAMETERS_BYTES: usize = NUMBERS + 7 * 4 + 16;

/// How an instance of an engine was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunParameters {
    /// Folder of the checkpoint.
    pub system_path: String,
    /// Folder of the logs.
    pub log_path: String,
    /// Whether log files below the checkpoint are removed.
    pub is_circular: bool,
    /// Most sessions at a time.
    pub sessions: u32,
    /// Maximum number of open tables.
    pub open_tables: u32,
    /// Maximum number of version-store pages.
    pub version_pages: u32,
    /// Maximum number of open cursors.
    pub cursors: u32,
    /// Size of the log buffer, in sectors.
    pub log_buffers: u32,
    /// Sectors of a log file.
    pub log_file_segments: u32,
    /// Most pages of the cache.
    pub cache_pages: u32,
}

impl RunParameters {
    /// Decodes the parameters at the beginning of `bytes`; all empty if `bytes` is too short.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        const CIRCULAR: u8 = 1;
        if bytes.len() < PARAMETERS_BYTES {
            return Self::default();
        }
        Self {
            system_path: path(&bytes[..PATH_BYTES]),
            log_path: path(&bytes[PATH_BYTES..FLAGS]),
            is_circular: bytes[FLAGS] & CIRCULAR != 0,
            sessions: u32_at(bytes, NUMBERS),
            open_tables: u32_at(bytes, NUMBERS + 4),
            version_pages: u32_at(bytes, NUMBERS + 8),
            cursors: u32_at(bytes, NUMBERS + 12),
            log_buffers: u32_at(bytes, NUMBERS + 16),
            log_file_segments: u32_at(bytes, NUMBERS + 20),
            cache_pages: u32_at(bytes, NUMBERS + 24),
        }
    }
}

fn path(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{PARAMETERS_BYTES, RunParameters};

    #[test]
    fn paths_end_at_zero_and_numbers_follow_the_flags() {
        let mut bytes = vec![0; PARAMETERS_BYTES];
        bytes[..3].copy_from_slice(b"C:\\");
        bytes[261..264].copy_from_slice(b"L:\\");
        bytes[522] = 1;
        bytes[523..527].copy_from_slice(&9_u32.to_le_bytes());
        bytes[547..551].copy_from_slice(&70_u32.to_le_bytes());
        let read = RunParameters::decode(&bytes);
        assert_eq!((read.system_path.as_str(), read.log_path.as_str()), ("C:\\", "L:\\"));
        assert!(read.is_circular);
        assert_eq!((read.sessions, read.cursors, read.cache_pages), (9, 0, 70));
        assert_eq!(RunParameters::decode(&bytes[1..]), RunParameters::default());
    }
}
