//! Runs other programs from the root of the repository.

use std::path::PathBuf;
use std::process::Command;

use crate::failure::Failure;

/// The root of the repository.
pub fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// A command with these words, run from the root of the repository.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(root());
    command
}

/// Runs a command with its output on the terminal.
pub fn run(words: &[&str]) -> Result<(), Failure> {
    let status = command(words).status().map_err(|error| {
        Failure::new(format!("cannot start `{}`: {error}; is it installed?", words.join(" ")))
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` failed", words.join(" "))))
}

/// Runs a command and returns what it prints.
pub fn capture(words: &[&str]) -> Result<String, Failure> {
    let output = command(words).output().map_err(|error| {
        Failure::new(format!("cannot start `{}`: {error}; is it installed?", words.join(" ")))
    })?;
    if !output.status.success() {
        return Err(Failure::new(format!(
            "`{}` failed:\n{}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program is installed.
pub fn installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
