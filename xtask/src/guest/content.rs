//! What a guest's messages report about its files: durable contents, contents found later, and
//! errors.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use xtask::failure::Failure;
use xtask::shell;

/// Texts in lines that report an error of the disk or of the file system.
const ERRORS: [&str; 4] = ["failed to ", "I/O error", "EXT4-fs", "can't open"];

/// Files by name, with the digests of their contents.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) files: BTreeMap<String, String>,
    /// Events that must not have happened.
    pub(super) faults: Vec<String>,
}

impl Content {
    /// Reads the complete lines of a console: `changed NAME` removes a file until `whole NAME
    /// DIGEST` adds it again; `found NAME DIGEST` adds an existing file; `again NAME DIGEST` must
    /// match the known one.
    pub(super) fn read(said: &str) -> Self {
        let mut content = Self::default();
        for line in said.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["changed", name] => drop(content.files.remove(name)),
                ["whole" | "found", name, digest] => {
                    content.files.insert(name.to_owned(), digest.to_owned());
                }
                ["again", name, digest] => content.compare(name, digest),
                _ if ERRORS.iter().any(|error| line.contains(error)) => {
                    content.faults.push(line.to_owned());
                }
                _ => {}
            }
        }
        content
    }

    /// The files on the ext4 file system in `disk.img` of a folder: the volume without its cache,
    /// which must be sound.
    pub(super) fn on_disk(folder: &Path) -> Result<Self, Failure> {
        let disk = folder.join("disk.img").display().to_string();
        shell::capture(&["e2fsck", "-fn", &disk])?;
        let script = "mkdir behind && debugfs -R 'rdump / behind' disk.img 2> /dev/null && \
                      cd behind && sha256sum file* | sed 's/\\(.*\\)  \\(.*\\)/found \\2 \\1/'";
        let output = Command::new("sh").args(["-c", script]).current_dir(folder).output();
        Ok(Self::read(&String::from_utf8_lossy(&output.map_err(Failure::of)?.stdout)))
    }

    fn compare(&mut self, name: &str, digest: &str) {
        if self.files.get(name).is_none_or(|known| known != digest) {
            self.faults.push(format!("{name} was read with another content than it had"));
        }
    }

    /// Files that `later` lacks or has with different content.
    pub(super) fn differences(&self, later: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, digest) in &self.files {
            match later.files.get(name) {
                Some(found) if found == digest => {}
                Some(_) => lines.push(format!("{name}: its content is not what was written")),
                None => lines.push(format!("{name}: is gone")),
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Content;

    #[test]
    fn a_durable_file_that_is_gone_or_otherwise_is_named() {
        let before = Content::read(
            "changed a\nwhole a 1\nchanged b\nwhole b 2\nagain a 1\nchanged c\nwhole c 3\n\
             changed b\n",
        );
        assert_eq!(before.faults, [""; 0]);
        let none = before.differences(&Content::read("found a 1\nfound b 9\nfound c 3\n"));
        assert_eq!(none, [""; 0], "b was being changed");
        let both = before.differences(&Content::read("found a 7\n"));
        assert_eq!(both, ["a: its content is not what was written", "c: is gone"]);
    }

    #[test]
    fn stale_reads_and_errors_of_the_disk_are_faults() {
        let said = "whole a 1\nagain a 2\n[  9.1] I/O error, dev vda, sector 8\nfailed to mount\n";
        assert_eq!(Content::read(said).faults.len(), 3);
    }
}
