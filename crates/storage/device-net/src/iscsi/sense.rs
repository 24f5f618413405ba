//! Outcomes of commands (SAM-5 status, SPC-4 sense data), in words and as device errors.

use std::fmt;

use device::{DeviceError, OpKind};

/// Status of commands.
mod code {
    pub(super) const GOOD: u8 = 0x00;
    pub(super) const CHECK_CONDITION: u8 = 0x02;
    pub(super) const BUSY: u8 = 0x08;
    pub(super) const RESERVATION_CONFLICT: u8 = 0x18;
    pub(super) const TASK_SET_FULL: u8 = 0x28;
    pub(super) const TASK_ABORTED: u8 = 0x40;
}

/// Keys of sense data.
mod key {
    pub(super) const NOT_READY: u8 = 0x2;
    pub(super) const ILLEGAL_REQUEST: u8 = 0x5;
    pub(super) const UNIT_ATTENTION: u8 = 0x6;
    pub(super) const DATA_PROTECT: u8 = 0x7;
}

/// A target's reason for rejecting a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScsiRefusal {
    status: u8,
    /// Sense key, additional code and its qualifier, if reported.
    sense: Option<(u8, u8, u8)>,
}

/// What the initiator does about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenseReaction {
    /// Send it again: the target only had something to report.
    Again,
    /// Send it again after a moment.
    Later,
    /// The session has lost the target's guarantees; nothing is certain any more.
    GiveUp(&'static str),
    /// The command has failed.
    Fail,
}

impl ScsiRefusal {
    /// The refusal in a command's `status` and sense data; `None` if the command was executed.
    pub(crate) fn of(status: u8, sense: &[u8]) -> Option<Self> {
        if status == code::GOOD {
            return None;
        }
        let is_descriptor = sense.first().is_some_and(|&code| code & 0x7e == 0x72);
        let at = if is_descriptor { [1, 2, 3] } else { [2, 12, 13] };
        let byte = |place: usize| sense.get(at[place]).copied();
        let sense = byte(0).filter(|_| status == code::CHECK_CONDITION);
        let sense = sense.map(|key| (key & 0x0f, byte(1).unwrap_or(0), byte(2).unwrap_or(0)));
        Some(Self { status, sense })
    }

    pub(crate) const fn reaction(self) -> SenseReaction {
        match (self.status, self.sense) {
            (_, Some((key::UNIT_ATTENTION, 0x29, _))) => SenseReaction::GiveUp(
                "the target was reset, and what it had not yet flushed may be lost",
            ),
            (_, Some((key::UNIT_ATTENTION, ..))) => SenseReaction::Again,
            // The unit is becoming ready without intervention, or is busy.
            (_, Some((key::NOT_READY, 0x04, 0x01))) | (code::BUSY | code::TASK_SET_FULL, _) => {
                SenseReaction::Later
            }
            (code::TASK_ABORTED, _) => SenseReaction::GiveUp(
                "another initiator has had the target abort what was under way",
            ),
            _ => SenseReaction::Fail,
        }
    }

    /// Whether the unit reports unit attention: its state has changed since the last command, or a
    /// session is new.
    pub(crate) const fn is_attention(self) -> bool {
        matches!(self.sense, Some((key::UNIT_ATTENTION, ..)))
    }

    /// Whether there is no such logical unit.
    pub(crate) const fn is_no_lun(self) -> bool {
        matches!(self.sense, Some((key::ILLEGAL_REQUEST, 0x25, _)))
    }

    /// Whether the logical unit is write protected.
    pub(crate) const fn is_protected(self) -> bool {
        matches!(self.sense, Some((key::DATA_PROTECT, 0x27, _)))
    }

    /// Whether the target does not support the command, or a part of it.
    pub(crate) const fn is_unknown(self) -> bool {
        matches!(self.sense, Some((key::ILLEGAL_REQUEST, ..)))
    }

    /// The refusal as an error of a request of this kind at byte `offset` of the device `file`.
    pub(crate) fn as_error(self, file: &str, kind: OpKind, offset: u64) -> DeviceError {
        let file = file.to_owned();
        match self.sense {
            // Thin storage that is exhausted.
            Some((key::DATA_PROTECT, 0x27, 0x07)) => DeviceError::Full { file, offset },
            _ => DeviceError::Io {
                file,
                offset,
                operation: kind.name(),
                code: i32::from(self.status),
                message: format!("the target answers: {self}"),
            },
        }
    }
}

impl fmt::Display for ScsiRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((key, code, qualifier)) = self.sense {
            let words = match key {
                0x1 => "recovered error",
                key::NOT_READY => "not ready",
                0x3 => "medium error",
                0x4 => "hardware error",
                key::ILLEGAL_REQUEST => "illegal request",
                key::UNIT_ATTENTION => "unit attention",
                key::DATA_PROTECT => "write protected",
                0xb => "aborted",
                _ => "error",
            };
            return write!(f, "{words} (sense {key:02x}/{code:02x}/{qualifier:02x})");
        }
        let words = match self.status {
            code::BUSY => "busy",
            code::RESERVATION_CONFLICT => "reserved by another system",
            code::TASK_SET_FULL => "too many commands at once",
            code::TASK_ABORTED => "aborted by another initiator",
            _ => "error",
        };
        write!(f, "{words} (status {:02x})", self.status)
    }
}

#[cfg(test)]
mod tests {
    use device::{DeviceError, OpKind};

    use super::{ScsiRefusal, SenseReaction};

    fn fixed(key: u8, code: u8, qualifier: u8) -> ScsiRefusal {
        let mut sense = [0; 18];
        (sense[0], sense[2], sense[12], sense[13]) = (0x70, 0xf0 | key, code, qualifier);
        ScsiRefusal::of(2, &sense).unwrap()
    }

    #[test]
    fn sense_data_of_both_forms_is_read() {
        let refusal = ScsiRefusal::of(2, &[0x72, 3, 0x11, 7]).unwrap();
        assert_eq!(refusal, fixed(3, 0x11, 7));
        assert_eq!(refusal.to_string(), "medium error (sense 03/11/07)");
        assert_eq!(ScsiRefusal::of(0, &[]), None);
        assert_eq!(ScsiRefusal::of(2, &[]).unwrap().to_string(), "error (status 02)");
    }

    #[test]
    fn what_the_target_only_tells_is_asked_again() {
        assert_eq!(fixed(6, 0x3f, 0x0e).reaction(), SenseReaction::Again);
        assert!(matches!(fixed(6, 0x29, 0).reaction(), SenseReaction::GiveUp(_)));
        assert_eq!(fixed(2, 4, 1).reaction(), SenseReaction::Later);
        assert_eq!(ScsiRefusal::of(0x28, &[]).unwrap().reaction(), SenseReaction::Later);
        assert!(matches!(ScsiRefusal::of(0x40, &[]).unwrap().reaction(), SenseReaction::GiveUp(_)));
        for refusal in [fixed(2, 0x3a, 0), fixed(5, 0x20, 0), ScsiRefusal::of(0x18, &[]).unwrap()] {
            assert_eq!(refusal.reaction(), SenseReaction::Fail);
        }
    }

    #[test]
    fn thin_storage_that_is_full_is_full() {
        let full = fixed(7, 0x27, 7).as_error("lun", OpKind::Write, 512);
        assert_eq!(full, DeviceError::Full { file: "lun".to_owned(), offset: 512 });
        let protected = fixed(7, 0x27, 0).as_error("lun", OpKind::Write, 512).to_string();
        assert!(protected.contains("write protected (sense 07/27/00)"), "{protected}");
    }
}
