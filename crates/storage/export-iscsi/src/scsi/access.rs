//! Classifies commands by what they do to others, for reservations (SPC-4 table 66, SBC-3 table
//! 13).

/// Class of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandAccess {
    /// Allowed whatever is reserved.
    Always,
    /// Queries and changes of persistent reservations, which check keys themselves, and harmless
    /// commands that only an old-style reservation forbids.
    Reservation,
    /// Reads the medium or the settings.
    Read,
    /// Everything else.
    Write,
}

impl CommandAccess {
    /// The class of `cdb`.
    pub(crate) const fn of(cdb: &[u8; 16]) -> Self {
        match cdb[0] {
            0x03 | 0x12 | 0x17 | 0x57 | 0xa0 => Self::Always,
            0x00 | 0x16 | 0x25 | 0x56 | 0x5e | 0x5f | 0xa3 => Self::Reservation,
            0x9e if cdb[1] & 0x1f == 0x10 => Self::Reservation,
            0x9e if cdb[1] & 0x1f == 0x12 => Self::Read,
            0x08 | 0x1a | 0x28 | 0x2f | 0x34 | 0x5a | 0x88 | 0x8f | 0x90 | 0xa8 | 0xaf => {
                Self::Read
            }
            _ => Self::Write,
        }
    }
}
