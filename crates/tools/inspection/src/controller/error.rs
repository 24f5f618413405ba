//! Reasons why an output could not be read, and which output to save instead.

use std::fmt;

use super::facts::Tool;

/// Why an output could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerError {
    /// The text is the output of no known tool.
    Unknown,
    /// The text starts as JSON but is malformed; the parser's reason.
    Syntax(String),
    /// The text is JSON, but not about controllers.
    NotOfControllers,
    /// The tool reported a failure; its message.
    Failed(String),
    /// The output of this tool describes no controller.
    Empty(Tool),
}

impl Tool {
    /// Name of the program.
    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Storcli => "storcli",
            Self::Storcli2 => "storcli2",
            Self::Megacli => "MegaCli64",
            Self::Ssacli => "ssacli",
            Self::Arcconf => "arcconf",
            Self::Mdadm => "mdadm",
            Self::Nvme => "nvme",
        }
    }

    /// The command with the most informative output.
    const fn to_save(self) -> &'static str {
        match self {
            Self::Storcli => "storcli /call show all J",
            Self::Storcli2 => "storcli2 /call show all J",
            Self::Megacli => "MegaCli64 -LDInfo -Lall -aAll",
            Self::Ssacli => "ssacli ctrl all show config detail",
            Self::Arcconf => "arcconf getconfig 1",
            Self::Mdadm => "mdadm --detail /dev/md0",
            Self::Nvme => "nvme id-ctrl /dev/nvme0",
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program())
    }
}

impl fmt::Display for ControllerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str(
                "is no output of storcli, perccli, MegaCli, ssacli, arcconf, mdadm or nvme; save \
                 that of `storcli /call show all J`, `ssacli ctrl all show config detail` or \
                 `arcconf getconfig 1`",
            ),
            Self::NotOfControllers => f.write_str(
                "is JSON, but has no member Controllers; save the output of `storcli /call show \
                 all J`",
            ),
            Self::Syntax(why) => {
                write!(f, "is no whole JSON ({why}); save the output of the tool again")
            }
            Self::Failed(words) => write!(f, "the tool failed: {words}"),
            Self::Empty(tool) => write!(
                f,
                "{tool} describes no controller in it; save the output of `{}`",
                tool.to_save()
            ),
        }
    }
}

impl std::error::Error for ControllerError {}
