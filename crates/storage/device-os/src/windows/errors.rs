//! Turns error numbers of Windows (winerror.h) into errors that an operator can act on.

use std::io;

use device::DeviceError;
use windows_sys::Win32::Foundation as codes;

/// The error of `operation` on `file` at byte `offset`.
pub(super) fn of(
    error: &io::Error,
    file: &str,
    operation: &'static str,
    offset: u64,
) -> DeviceError {
    let file = file.to_owned();
    let code = error.raw_os_error().unwrap_or(0);
    match code.cast_unsigned() {
        codes::ERROR_FILE_NOT_FOUND | codes::ERROR_PATH_NOT_FOUND => DeviceError::NotFound { file },
        codes::ERROR_FILE_EXISTS | codes::ERROR_ALREADY_EXISTS => {
            DeviceError::AlreadyExists { file }
        }
        codes::ERROR_ACCESS_DENIED | codes::ERROR_PRIVILEGE_NOT_HELD => {
            DeviceError::PermissionDenied { file }
        }
        codes::ERROR_WRITE_PROTECT => DeviceError::ReadOnly { file },
        codes::ERROR_SHARING_VIOLATION | codes::ERROR_LOCK_VIOLATION => {
            DeviceError::Locked { file }
        }
        codes::ERROR_DISK_FULL
        | codes::ERROR_HANDLE_DISK_FULL
        | codes::ERROR_DISK_QUOTA_EXCEEDED => DeviceError::Full { file, offset },
        codes::ERROR_INVALID_NAME
        | codes::ERROR_BAD_PATHNAME
        | codes::ERROR_DIRECTORY
        | codes::ERROR_FILENAME_EXCED_RANGE => {
            DeviceError::BadPath { file, message: message(error) }
        }
        // Requests are aligned, so this is the file system's refusal of unbuffered I/O.
        codes::ERROR_INVALID_PARAMETER if matches!(operation, "open" | "read" | "write") => {
            DeviceError::Unbuffered { file }
        }
        _ => DeviceError::Io { file, offset, operation, code, message: message(error) },
    }
}

/// The system's message without the number, which is shown separately.
fn message(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].trim_end_matches(['.', '\r', '\n', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use device::DeviceError;
    use windows_sys::Win32::Foundation as codes;

    fn of(code: u32, operation: &'static str) -> DeviceError {
        super::of(&io::Error::from_raw_os_error(code.cast_signed()), "D:\\f", operation, 8)
    }

    #[test]
    fn error_numbers_become_remedies() {
        let file = || "D:\\f".to_owned();
        let full = DeviceError::Full { file: file(), offset: 8 };
        assert_eq!(of(codes::ERROR_DISK_FULL, "write"), full);
        let unbuffered = DeviceError::Unbuffered { file: file() };
        assert_eq!(of(codes::ERROR_INVALID_PARAMETER, "read"), unbuffered);
        assert_eq!(
            of(codes::ERROR_SHARING_VIOLATION, "open"),
            DeviceError::Locked { file: file() }
        );
        let broken = of(codes::ERROR_CRC, "read");
        assert!(matches!(broken, DeviceError::Io { code: 23, offset: 8, .. }), "{broken:?}");
    }
}
