//! Determines the libraries and the C library version that a program needs. A missing one would
//! otherwise show only when a user first starts the program.

use std::path::Path;

use xtask::failure::Failure;
use xtask::shell;

use super::machine::Machine;

/// Libraries that every Windows since Server 2012 R2 has, besides those whose names start with
/// `api-ms-win-`.
const OF_WINDOWS: [&str; 17] = [
    "advapi32.dll",
    "bcrypt.dll",
    "bcryptprimitives.dll",
    "crypt32.dll",
    "kernel32.dll",
    "msvcrt.dll",
    "ncrypt.dll",
    "ntdll.dll",
    "ole32.dll",
    "pdh.dll",
    "psapi.dll",
    "secur32.dll",
    "shell32.dll",
    "user32.dll",
    "userenv.dll",
    "winmm.dll",
    "ws2_32.dll",
];

/// The libraries that a Windows program imports; an error if any is not part of the system.
pub(super) fn libraries(program: &Path) -> Result<Vec<String>, Failure> {
    let path = program.display().to_string();
    let imported = imported(&shell::capture(&["x86_64-w64-mingw32-objdump", "-p", &path])?);
    let strange: Vec<String> =
        imported.iter().filter(|name| !is_of_windows(name)).cloned().collect();
    if imported.is_empty() || !strange.is_empty() {
        let headline = format!("{path} must import libraries of Windows alone; beside them:");
        return Err(Failure::list(&headline, &strange));
    }
    Ok(imported)
}

/// The C library version that a Linux program needs; `None` if it needs no library.
pub(super) fn glibc(program: &Path, machine: Machine) -> Result<Option<(u32, u32)>, Failure> {
    let path = program.display().to_string();
    if !shell::capture(&[machine.objdump(), "-p", &path])?.contains("NEEDED") {
        return Ok(None);
    }
    let newest = newest_glibc(&shell::capture(&[machine.objdump(), "-T", &path])?);
    newest.map(Some).ok_or_else(|| Failure::new(format!("{path} needs a library, but no glibc")))
}

/// The requirement in words.
pub(super) fn words(glibc: Option<(u32, u32)>) -> String {
    glibc.map_or_else(
        || "no library at all".to_owned(),
        |(major, minor)| format!("glibc {major}.{minor} or newer"),
    )
}

/// The names in the import table, as `objdump -p` prints them.
fn imported(listing: &str) -> Vec<String> {
    let names = listing.lines().filter_map(|line| line.trim().strip_prefix("DLL Name: "));
    let mut names: Vec<String> = names.map(str::to_lowercase).collect();
    names.sort();
    names.dedup();
    names
}

fn is_of_windows(name: &str) -> bool {
    name.starts_with("api-ms-win-") || OF_WINDOWS.contains(&name)
}

/// The newest glibc symbol version in the output of `objdump -T`.
fn newest_glibc(symbols: &str) -> Option<(u32, u32)> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|of: char| !of.is_ascii_digit() && of != '.').unwrap_or(rest.len());
        let (major, minor) = rest[..end].split_once('.')?;
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::{imported, is_of_windows, newest_glibc};

    #[test]
    fn a_library_that_comes_with_a_compiler_is_no_library_of_windows() {
        let listing = "\tDLL Name: KERNEL32.dll\n\tvma: Hint\n\tDLL Name: libgcc_s_seh-1.dll\n";
        let names = imported(listing);
        assert_eq!(names, ["kernel32.dll", "libgcc_s_seh-1.dll"]);
        assert_eq!(names.iter().map(|name| is_of_windows(name)).collect::<Vec<_>>(), [true, false]);
        assert!(is_of_windows("api-ms-win-core-synch-l1-2-0.dll"));
    }

    #[test]
    fn the_newest_version_of_a_symbol_counts() {
        let symbols =
            "DF *UND* 0 (GLIBC_2.2.5) free\nDF *UND* 0 (GLIBC_2.34) main\n GLIBC_PRIVATE x";
        assert_eq!(newest_glibc(symbols), Some((2, 34)));
        assert_eq!(newest_glibc("DF *UND* 0 (GLIBC_2.4)"), Some((2, 4)));
        assert_eq!(newest_glibc("nothing"), None);
    }
}
