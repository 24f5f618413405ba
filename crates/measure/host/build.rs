//! Finds the commit that a program is built from, so that two builds never share a name in a
//! sealed record. The same commit gives the same bytes in every folder and at every time.
//!
//! `PLIMSOLL_COMMIT` and `SOURCE_DATE_EPOCH` override what git says, for builds without it.
//! Development builds carry no commit: it would force a rebuild of all tests after every commit.

use std::env;
use std::path::Path;
use std::process::Command;

/// Root of the workspace, relative to this package.
const ROOT: &str = "../../..";

/// Displayed digits of a commit hash.
const SHORT: usize = 12;

fn main() {
    println!("cargo:rerun-if-env-changed=PLIMSOLL_COMMIT");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo:rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = commit();
    let date = date();
    let words: Vec<&str> = [&commit, &date].into_iter().flatten().map(String::as_str).collect();
    let source = match words.as_slice() {
        [] => "development build".to_owned(),
        words => words.join(" "),
    };
    println!("cargo:rustc-env=PLIMSOLL_VERSION={version} ({source})");
    println!("cargo:rustc-env=PLIMSOLL_DATE={}", date.unwrap_or_default());
    println!("cargo:rustc-env=PLIMSOLL_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo:rustc-env=PLIMSOLL_LINKAGE={}", linkage());
    println!("cargo:rustc-env=PLIMSOLL_FEATURES={}", features());
}

/// Features that depend on the target system.
fn features() -> &'static str {
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => "io_uring, direct I/O, huge pages, iSCSI and NBD clients, scan --interface",
        Ok("windows") => "overlapped I/O, unbuffered files, iSCSI and NBD clients",
        _ => "reading and reporting",
    }
}

/// Whether the C library is linked statically or dynamically.
fn linkage() -> &'static str {
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_asked_for = features.split(',').any(|feature| feature == "crt-static");
    // Musl is linked in unless asked otherwise, and cargo then names no feature.
    let is_musl = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "musl");
    if is_asked_for || is_musl { "static" } else { "dynamic" }
}

/// The commit in short, with a mark if files differ from it.
fn commit() -> Option<String> {
    if let Ok(given) = env::var("PLIMSOLL_COMMIT") {
        return Some(given.chars().take(SHORT).collect());
    }
    if !is_release() {
        return None;
    }
    watch_sources();
    packaged_commit().or_else(|| {
        let commit = git(&["rev-parse", &format!("--short={SHORT}"), "HEAD"])?;
        let changes = git(&["status", "--porcelain", "--untracked-files=no"]).unwrap_or_default();
        Some(if changes.is_empty() { commit } else { format!("{commit}+changes") })
    })
}

/// The day of the commit in UTC.
fn date() -> Option<String> {
    if let Ok(seconds) = env::var("SOURCE_DATE_EPOCH") {
        return seconds.parse().ok().map(day);
    }
    let seconds = is_release().then(|| git(&["show", "-s", "--format=%ct", "HEAD"])).flatten()?;
    seconds.parse().ok().map(day)
}

fn is_release() -> bool {
    env::var("PROFILE").is_ok_and(|profile| profile == "release")
}

/// Makes cargo rerun this script after a commit or a change in any crate.
fn watch_sources() {
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    let of_root = |path: &str| Path::new(ROOT).join(path).display().to_string();
    for path in [Some(of_root("crates")), head.map(|head| of_root(&head))].into_iter().flatten() {
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}

/// The commit that `cargo package` recorded next to the manifest.
fn packaged_commit() -> Option<String> {
    let noted = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = noted.split_once("\"sha1\": \"")?;
    Some(rest.chars().take(SHORT).collect())
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).current_dir(ROOT).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The Gregorian date `seconds` after the epoch.
fn day(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
