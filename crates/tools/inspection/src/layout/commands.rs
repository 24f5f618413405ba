//! The commands that fix a layout, in the shell syntax of each system. Nothing here runs them.

use device_os::probe::Platform;

use super::LayoutRoots;

impl LayoutRoots {
    /// Mounts the volume with this label at `path`.
    pub(super) fn mount(&self, label: &str, path: &str) -> String {
        let (label, folder) = (self.word(label), self.make(path));
        let path = self.word(path);
        match self.platform {
            Platform::Linux => format!("{folder} && mount LABEL={label} {path}"),
            Platform::Windows => format!(
                "{folder}; Get-Volume -FileSystemLabel {label} | Get-Partition | \
                 Add-PartitionAccessPath -AccessPath {path}"
            ),
        }
    }

    /// Mounts the volume with this label, which is mounted at `first`, at `path` too.
    pub(super) fn mount_again(&self, label: &str, first: &str, path: &str) -> String {
        match self.platform {
            Platform::Linux => {
                let (folder, first, path) = (self.make(path), self.word(first), self.word(path));
                format!("{folder} && mount --bind {first} {path}")
            }
            Platform::Windows => self.mount(label, path),
        }
    }

    /// Makes the folder `path`.
    pub(super) fn make(&self, path: &str) -> String {
        let path = self.word(path);
        match self.platform {
            Platform::Linux => format!("mkdir -p {path}"),
            Platform::Windows => format!("New-Item -ItemType Directory -Force -Path {path}"),
        }
    }

    /// A word in which nothing is expanded.
    fn word(&self, text: &str) -> String {
        match self.platform {
            Platform::Linux => format!("'{}'", text.replace('\'', "'\\''")),
            Platform::Windows => format!("'{}'", text.replace('\'', "''")),
        }
    }
}
