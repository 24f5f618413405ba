//! Systems to install into: copies of a small Debian, each used once.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

/// Root folder of a system, removed when dropped.
pub(super) struct Scratch(PathBuf);

fn folder() -> PathBuf {
    shell::root().join("target/dist-try")
}

/// Folder of a small Debian without any of our files; it is fetched once.
pub(super) fn base() -> Result<PathBuf, Failure> {
    let base = folder().join("debian");
    if base.join("etc/debian_version").exists() && !base.join("debootstrap").exists() {
        return Ok(base);
    }
    let _ = fs::remove_dir_all(&base);
    let to = base.display().to_string();
    let with = "--include=adduser,init-system-helpers";
    shell::run(&["debootstrap", "--variant=minbase", with, "bookworm", &to])?;
    Ok(base)
}

impl Scratch {
    /// Copies `base`.
    pub(super) fn of(base: &Path, name: &str) -> Result<Self, Failure> {
        let root = folder().join(name);
        let _ = fs::remove_dir_all(&root);
        let (from, to) = (base.display().to_string(), root.display().to_string());
        shell::run(&["cp", "-a", &from, &to])?;
        Ok(Self(root))
    }

    /// Creates an empty folder.
    pub(super) fn empty(name: &str) -> Result<Self, Failure> {
        let root = folder().join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).map_err(Failure::of)?;
        Ok(Self(root))
    }

    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    /// Runs a shell command in the system.
    pub(super) fn run(&self, line: &str) -> Result<(), Failure> {
        println!("$ {line}");
        let words = self.inside(&[], &["sh", "-ec", line]);
        shell::run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs a shell command in the system, which must end with a verdict.
    pub(super) fn verdict(&self, line: &str) -> Result<(), Failure> {
        println!("$ {line}");
        self.verdict_as(&[], &["sh", "-ec", line])
    }

    /// Like [`Self::verdict`], for a program, with options of `chroot`.
    pub(super) fn verdict_as(&self, options: &[&str], words: &[&str]) -> Result<(), Failure> {
        let words = self.inside(options, words);
        verdict_of(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A command in the system, with `/proc` and `/sys` as in any system. These mounts disappear
    /// with the command.
    fn inside(&self, options: &[&str], words: &[&str]) -> Vec<String> {
        let mounts = "mkdir -p $0/proc $0/sys; mount -t proc proc $0/proc; \
                      mount -t sysfs sysfs $0/sys; root=$0; exec chroot $OPTIONS $root \"$@\"";
        let mounts = mounts.replace("$OPTIONS", &options.join(" "));
        let root = self.0.display().to_string();
        let begin = ["unshare", "--mount", "sh", "-ec", &mounts, &root];
        begin.iter().chain(words).map(|word| (*word).to_owned()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a test, which must print a verdict of any kind.
pub(super) fn verdict_of(words: &[&str]) -> Result<(), Failure> {
    let output = shell::command(words).output().map_err(Failure::of)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find(|line| is_verdict(line));
    match (line, output.status.code()) {
        (Some(line), Some(0..=2)) => {
            println!("{line}");
            Ok(())
        }
        (_, code) => Err(Failure::new(format!(
            "no verdict; exit status {code:?}, signal {:?}\n{said}\n{}",
            output.status.signal(),
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

/// Whether a line begins a report.
fn is_verdict(line: &str) -> bool {
    ["PASS", "FAIL", "CANNOT JUDGE", "INCONCLUSIVE"].iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::is_verdict;

    #[test]
    fn only_the_first_line_of_a_report_is_a_verdict() {
        assert!(is_verdict("CANNOT JUDGE 512 IOPS"));
        assert!(!is_verdict("the run did not PASS"));
    }
}
