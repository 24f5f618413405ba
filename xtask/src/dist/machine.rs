//! The processors that packages are for, in the word of each kind of package.

/// A family of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    Amd64,
    Arm64,
}

impl Machine {
    /// As Debian and container images call it.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// As the kernel calls it, and with it RPM, Python and our tarballs.
    pub(super) fn kernel(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// As Homebrew calls the block of a formula that only its owners read.
    pub(super) fn homebrew(self) -> &'static str {
        match self {
            Self::Amd64 => "on_intel",
            Self::Arm64 => "on_arm",
        }
    }

    /// The tool of binutils that lists a program of this machine.
    pub(super) fn objdump(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-linux-gnu-objdump",
            Self::Arm64 => "aarch64-linux-gnu-objdump",
        }
    }
}
