//! The processors that packages are for, as each package format names them.

/// A family of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    Amd64,
    Arm64,
}

impl Machine {
    /// Name used by Debian and container images.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Name used by the kernel, and so by RPM, Python and our tarballs.
    pub(super) fn kernel(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// Name of the Homebrew formula block that applies only to this machine.
    pub(super) fn homebrew(self) -> &'static str {
        match self {
            Self::Amd64 => "on_intel",
            Self::Arm64 => "on_arm",
        }
    }

    /// Name of the `objdump` for this machine's programs.
    pub(super) fn objdump(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-linux-gnu-objdump",
            Self::Arm64 => "aarch64-linux-gnu-objdump",
        }
    }
}
