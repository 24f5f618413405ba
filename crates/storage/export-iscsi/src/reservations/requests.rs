//! Parses PERSISTENT RESERVE OUT.

use super::{ReservationKind, ReserveRefusal};
use crate::scsi::{RESERVE_BYTES, Sense, number};

/// Service action of PERSISTENT RESERVE OUT, in the order of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReserveAction {
    Register,
    Reserve,
    Release,
    Clear,
    Preempt,
    /// Preempts, and also aborts the commands of the initiators that lose their key.
    PreemptAndAbort,
    /// REGISTER AND IGNORE EXISTING KEY.
    RegisterAnyway,
}

impl ReserveAction {
    fn of(number: u8) -> Option<Self> {
        [
            Self::Register,
            Self::Reserve,
            Self::Release,
            Self::Clear,
            Self::Preempt,
            Self::PreemptAndAbort,
            Self::RegisterAnyway,
        ]
        .get(usize::from(number))
        .copied()
    }

    pub(super) const fn is_registration(self) -> bool {
        matches!(self, Self::Register | Self::RegisterAnyway)
    }

    /// `true` if it takes keys away.
    pub(crate) const fn is_preemption(self) -> bool {
        matches!(self, Self::Preempt | Self::PreemptAndAbort)
    }
}

/// A parsed PERSISTENT RESERVE OUT request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReservationChange {
    pub(crate) action: ReserveAction,
    scope_and_kind: u8,
    /// The initiator's present key.
    pub(super) key: u64,
    /// The key to register, or to take away.
    pub(super) new_key: u64,
}

impl ReservationChange {
    /// The request in `cdb` and its parameters. Registrations for other ports, and those that
    /// survive a restart of the server, are refused.
    pub(crate) fn parse(cdb: &[u8; 16], parameters: &[u8]) -> Result<Self, ReserveRefusal> {
        let action = ReserveAction::of(cdb[1] & 0x1f);
        let action = action.ok_or(ReserveRefusal::Sense(Sense::INVALID_FIELD))?;
        if parameters.len() != RESERVE_BYTES {
            return Err(ReserveRefusal::Sense(Sense::PARAMETER_LENGTH));
        }
        if action.is_registration() && parameters[20] & 0x0f != 0 {
            return Err(ReserveRefusal::Sense(Sense::INVALID_PARAMETER));
        }
        let change = Self {
            action,
            scope_and_kind: cdb[2],
            key: number(&parameters[..8]),
            new_key: number(&parameters[8..16]),
        };
        if !action.is_registration() && action != ReserveAction::Clear {
            change.kind()?;
        }
        Ok(change)
    }

    pub(super) fn kind(&self) -> Result<ReservationKind, ReserveRefusal> {
        ReservationKind::of(self.scope_and_kind).ok_or(ReserveRefusal::Sense(Sense::INVALID_FIELD))
    }
}
