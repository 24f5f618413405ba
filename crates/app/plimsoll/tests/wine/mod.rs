//! The program that tests drive: this system's, or where `PLIMSOLL_WINDOWS` names one for Windows,
//! that under Wine. `cargo xtask windows` builds it and sets the variable.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The program of this system.
pub(crate) const NATIVE: &str = env!("CARGO_BIN_EXE_plimsoll");

/// Has Wine run a program for Windows.
const WINE: &str = "/usr/lib/wine/wine64";

/// The Windows build to test, if any.
pub(crate) fn windows() -> Option<OsString> {
    std::env::var_os("PLIMSOLL_WINDOWS")
}

/// The program to test.
pub(crate) fn program() -> Command {
    let Some(windows) = windows() else {
        return Command::new(NATIVE);
    };
    let mut wine = Command::new(WINE);
    wine.arg(windows).env("WINEDEBUG", "-all");
    wine
}

/// A path as the driven program names it: Wine has this system's files on a drive of their own.
pub(crate) fn shown(path: &Path) -> String {
    let drive = if windows().is_some() { "Z:" } else { "" };
    format!("{drive}{}", path.display())
}
