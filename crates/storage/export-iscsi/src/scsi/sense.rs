//! Sense data in fixed format (SPC-4, 4.5.3).

use super::WorkError;

/// Key, additional code and qualifier; a byte position for comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sense {
    key: u8,
    code: u8,
    qualifier: u8,
    information: Option<u32>,
}

const fn sense(key: u8, code: u8, qualifier: u8) -> Sense {
    Sense { key, code, qualifier, information: None }
}

impl Sense {
    /// Power on, reset, or a new session.
    pub(crate) const RESET: Self = sense(0x6, 0x29, 0x00);
    pub(crate) const UNKNOWN_COMMAND: Self = sense(0x5, 0x20, 0x00);
    pub(crate) const OUT_OF_RANGE: Self = sense(0x5, 0x21, 0x00);
    pub(crate) const INVALID_FIELD: Self = sense(0x5, 0x24, 0x00);
    pub(crate) const NO_SUCH_UNIT: Self = sense(0x5, 0x25, 0x00);
    pub(crate) const INVALID_PARAMETER: Self = sense(0x5, 0x26, 0x00);
    pub(crate) const PARAMETER_LENGTH: Self = sense(0x5, 0x1a, 0x00);
    pub(crate) const INVALID_RELEASE: Self = sense(0x5, 0x26, 0x04);
    /// A reservation was taken away.
    pub(crate) const RESERVATION_PREEMPTED: Self = sense(0x6, 0x2a, 0x03);
    /// A reservation that others depended on was given up.
    pub(crate) const RELEASED: Self = sense(0x6, 0x2a, 0x04);
    /// A key was taken away.
    pub(crate) const REGISTRATION_PREEMPTED: Self = sense(0x6, 0x2a, 0x05);
    pub(crate) const WRITE_PROTECTED: Self = sense(0x7, 0x27, 0x00);
    /// A write whose data arrived out of order.
    pub(crate) const DATA_PHASE: Self = sense(0xb, 0x4b, 0x00);
    pub(crate) const NOTHING: Self = sense(0, 0, 0);

    pub(crate) fn of(error: WorkError) -> Self {
        match error {
            WorkError::Differs(at) => Self { information: Some(at), ..sense(0xe, 0x1d, 0x00) },
            WorkError::Read => sense(0x3, 0x11, 0x00),
            WorkError::Write => sense(0x3, 0x0c, 0x00),
            WorkError::Full => sense(0x7, 0x27, 0x07),
            WorkError::Aborted => sense(0xb, 0x00, 0x00),
        }
    }

    pub(crate) fn encode(self) -> [u8; 18] {
        let mut bytes = [0; 18];
        bytes[0] = if self.information.is_some() { 0xf0 } else { 0x70 };
        (bytes[2], bytes[7]) = (self.key, 10);
        bytes[3..7].copy_from_slice(&self.information.unwrap_or(0).to_be_bytes());
        (bytes[12], bytes[13]) = (self.code, self.qualifier);
        bytes
    }
}
