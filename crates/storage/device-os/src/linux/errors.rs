//! Turns error numbers into errors that an operator can act on.

use std::io;

use device::DeviceError;

/// The error of `operation` on `file` at byte `offset`.
pub(super) fn of(
    error: &io::Error,
    file: &str,
    operation: &'static str,
    offset: u64,
) -> DeviceError {
    let file = file.to_owned();
    match error.raw_os_error().unwrap_or(0) {
        libc::ENOENT => DeviceError::NotFound { file },
        libc::EEXIST => DeviceError::AlreadyExists { file },
        libc::EACCES | libc::EPERM => DeviceError::PermissionDenied { file },
        libc::EROFS => DeviceError::ReadOnly { file },
        libc::EISDIR => DeviceError::NotAFile { file },
        libc::ENOTDIR | libc::ELOOP | libc::ENAMETOOLONG => {
            DeviceError::BadPath { file, message: message(error) }
        }
        libc::ENOSPC | libc::EDQUOT | libc::EFBIG => DeviceError::Full { file, offset },
        // Requests are aligned, so this is the file system's refusal of O_DIRECT.
        libc::EINVAL if matches!(operation, "open" | "read" | "write") => {
            DeviceError::Unbuffered { file }
        }
        code => DeviceError::Io { file, offset, operation, code, message: message(error) },
    }
}

/// The system's message without the number, which is shown separately.
fn message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use device::DeviceError;

    fn of(code: i32, operation: &'static str) -> DeviceError {
        super::of(&io::Error::from_raw_os_error(code), "/mail/f", operation, 8)
    }

    #[test]
    fn error_numbers_become_remedies() {
        let file = || "/mail/f".to_owned();
        let full = DeviceError::Full { file: file(), offset: 8 };
        assert_eq!(of(libc::ENOSPC, "write"), full);
        assert_eq!(of(libc::EINVAL, "read"), DeviceError::Unbuffered { file: file() });
        assert_eq!(of(libc::EROFS, "open"), DeviceError::ReadOnly { file: file() });
        assert_eq!(
            of(libc::ELOOP, "open").to_string(),
            "/mail/f: Too many levels of symbolic links; check the path"
        );
        assert_eq!(
            of(libc::EIO, "read").to_string(),
            "/mail/f: read at byte 8 failed: Input/output error (error 5); \
             check the disk and the system log"
        );
    }
}
