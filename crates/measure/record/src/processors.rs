//! Attributes processor time: if other programs take it, answers are noticed late and the storage
//! looks slow.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smaller shares are not worth a mention.
const WORTH_A_WORD_PERCENT: f64 = 1.0;

/// Busy time by consumer, in percent of all processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessorShares {
    /// All busy time.
    pub busy_percent: f64,
    /// Of this program.
    pub own_percent: f64,
    /// Kernel threads and interrupts, much of which is work for the storage.
    pub kernel_percent: f64,
    /// Of all other programs.
    pub others_percent: f64,
    /// The busiest other program, if one can be identified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<ProgramShare>,
}

/// Combined use of all processes of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramShare {
    /// The operating system's name for them; it may contain anything.
    pub name: String,
    /// Their share, in percent of all processors.
    pub percent: f64,
}

impl ProcessorShares {
    /// Other programs above this share of all processors are worth a mention.
    pub const HEAVY_PERCENT: f64 = 25.0;

    /// Whether other programs used enough processor time for the reader to be warned.
    pub fn has_heavy_others(&self) -> bool {
        self.others_percent > Self::HEAVY_PERCENT
    }
}

impl fmt::Display for ProcessorShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "processors {:.0} % busy: Plimsoll {:.0} %, ",
            self.busy_percent, self.own_percent
        )?;
        if self.kernel_percent >= WORTH_A_WORD_PERCENT {
            write!(f, "the kernel {:.0} %, ", self.kernel_percent)?;
        }
        write!(f, "others {:.0} %", self.others_percent)?;
        match &self.top {
            Some(top) => write!(f, " (top: {} {:.0} %)", top.name, top.percent),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ProcessorShares, ProgramShare};

    #[test]
    fn shares_read_as_a_sentence() {
        let mut shares = ProcessorShares {
            busy_percent: 100.0,
            own_percent: 34.2,
            kernel_percent: 0.4,
            others_percent: 65.8,
            top: Some(ProgramShare { name: "rustc".to_owned(), percent: 60.0 }),
        };
        assert_eq!(
            shares.to_string(),
            "processors 100 % busy: Plimsoll 34 %, others 66 % (top: rustc 60 %)"
        );
        assert!(shares.has_heavy_others());
        (shares.kernel_percent, shares.others_percent, shares.top) = (50.0, 15.0, None);
        assert_eq!(
            shares.to_string(),
            "processors 100 % busy: Plimsoll 34 %, the kernel 50 %, others 15 %"
        );
        assert!(!shares.has_heavy_others());
    }
}
