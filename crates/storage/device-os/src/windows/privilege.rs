//! The privilege that spares new files a pass of zeros: `SeManageVolumePrivilege`, which
//! administrators have. It is held by a token and has no effect before it is enabled.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{ERROR_NOT_ALL_ASSIGNED, ERROR_SUCCESS, GetLastError, LUID};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_PRIVILEGE_ENABLED,
    TOKEN_ADJUST_PRIVILEGES, TOKEN_PRIVILEGES, TOKEN_QUERY,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::sys::{check, wide};

/// Whether this process holds the privilege to allocate space without writing it
/// (`SeManageVolumePrivilege`); enables it the first time.
pub fn is_held() -> bool {
    static HELD: OnceLock<bool> = OnceLock::new();
    *HELD.get_or_init(|| enable("SeManageVolumePrivilege").unwrap_or(false))
}

/// Enables a privilege of this process; `false` if its token does not hold it.
fn enable(name: &str) -> io::Result<bool> {
    let name = wide(Path::new(name));
    let mut luid = LUID { LowPart: 0, HighPart: 0 };
    // SAFETY: the name is terminated, and the other pointer is to a live structure or null.
    check(unsafe { LookupPrivilegeValueW(ptr::null(), name.as_ptr(), &raw mut luid) })?;
    let wanted = TOKEN_PRIVILEGES {
        PrivilegeCount: 1,
        Privileges: [LUID_AND_ATTRIBUTES { Luid: luid, Attributes: SE_PRIVILEGE_ENABLED }],
    };
    let token = own_token()?;
    // SAFETY: the token is open, and `wanted` is a live structure of the kind named, only read.
    let (adjusted, code) = unsafe {
        let adjusted = AdjustTokenPrivileges(
            token.as_raw_handle(),
            0,
            &raw const wanted,
            0,
            ptr::null_mut(),
            ptr::null_mut(),
        );
        (adjusted, GetLastError())
    };
    match (adjusted, code) {
        (0, _) => Err(io::Error::from_raw_os_error(code.cast_signed())),
        // The call succeeds although it has enabled nothing.
        (_, ERROR_NOT_ALL_ASSIGNED) => Ok(false),
        (_, code) => Ok(code == ERROR_SUCCESS),
    }
}

/// The token with this process's privileges.
fn own_token() -> io::Result<OwnedHandle> {
    let mut token = ptr::null_mut();
    let access = TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY;
    // SAFETY: the handle denotes this process itself, and `token` is live.
    check(unsafe { OpenProcessToken(GetCurrentProcess(), access, &raw mut token) })?;
    // SAFETY: the call above made this handle, so it is open and has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(token) })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_privilege_that_the_token_lacks_is_not_held() {
        if crate::windows::sys::is_wine() {
            // Wine's only user has administrator rights and every other privilege.
            assert!(super::is_held());
        } else {
            // Only the system itself has this one.
            assert!(!super::enable("SeCreateTokenPrivilege").unwrap());
        }
        assert!(super::enable("NoSuchPrivilege").is_err());
    }
}
