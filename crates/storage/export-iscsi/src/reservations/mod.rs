//! Persistent reservations (SPC-4, 5.13): control access to a logical unit through keys that
//! outlive sessions. A cluster fences a host by removing its key.

mod preempt;
mod report;
mod requests;

pub(crate) use requests::{ReservationChange, ReserveAction};

use crate::scsi::{CommandAccess, Sense};

/// The access that a reservation denies to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReservationKind {
    /// Others may not read either.
    is_exclusive: bool,
    /// Exempt initiators in addition to the holder.
    exempt: Exempt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exempt {
    HolderAlone,
    /// All registrants.
    Registrants,
    /// All registrants; each of them holds the reservation.
    Holders,
}

/// Number and meaning of each kind.
const KINDS: [(u8, bool, Exempt); 6] = [
    (1, false, Exempt::HolderAlone),
    (3, true, Exempt::HolderAlone),
    (5, false, Exempt::Registrants),
    (6, true, Exempt::Registrants),
    (7, false, Exempt::Holders),
    (8, true, Exempt::Holders),
];

impl ReservationKind {
    /// The kind with this number; `None` if it is unknown or the scope is not the whole unit.
    pub(crate) fn of(scope_and_kind: u8) -> Option<Self> {
        let found = KINDS.iter().find(|(number, ..)| *number == scope_and_kind);
        found.map(|&(_, is_exclusive, exempt)| Self { is_exclusive, exempt })
    }

    fn number(self) -> u8 {
        let is_this =
            |known: &&(u8, bool, Exempt)| (known.1, known.2) == (self.is_exclusive, self.exempt);
        KINDS.iter().find(is_this).map_or(0, |known| known.0)
    }
}

/// A reservation. Its holder is one registrant, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeldReservation {
    kind: ReservationKind,
    /// Port of the initiator that made it.
    by: String,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReserveRefusal {
    /// RESERVATION CONFLICT.
    Conflict,
    /// CHECK CONDITION.
    Sense(Sense),
}

/// Initiators to notify, each with its notice.
pub(crate) type Notices = Vec<(String, Sense)>;

/// The registered initiator ports with their keys, and the reservation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reservations {
    /// Counts changes.
    generation: u32,
    keys: Vec<(String, u64)>,
    held: Option<HeldReservation>,
}

impl Reservations {
    /// `true` if nothing is registered.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn key(&self, initiator: &str) -> Option<u64> {
        self.keys.iter().find(|(name, _)| name == initiator).map(|(_, key)| *key)
    }

    fn is_holder(&self, initiator: &str) -> bool {
        self.held.as_ref().is_some_and(|held| match held.kind.exempt {
            Exempt::Holders => self.key(initiator).is_some(),
            _ => held.by == initiator,
        })
    }

    /// `true` if the initiator may send a command of that class.
    pub(crate) fn admits(&self, initiator: &str, access: CommandAccess) -> bool {
        let Some(held) = &self.held else { return true };
        let is_exempt = held.kind.exempt != Exempt::HolderAlone && self.key(initiator).is_some();
        match access {
            CommandAccess::Always | CommandAccess::Reservation => true,
            CommandAccess::Read if !held.kind.is_exclusive => true,
            _ => is_exempt || self.is_holder(initiator),
        }
    }

    /// Performs a request; returns its notices.
    pub(crate) fn change(
        &mut self,
        initiator: &str,
        change: &ReservationChange,
    ) -> Result<Notices, ReserveRefusal> {
        if change.action.is_registration() {
            return self.register(initiator, change);
        }
        if self.key(initiator) != Some(change.key) {
            return Err(ReserveRefusal::Conflict);
        }
        match change.action {
            ReserveAction::Reserve => self.reserve(initiator, change.kind()?),
            ReserveAction::Release => self.release(initiator, change.kind()?),
            ReserveAction::Clear => Ok(self.clear(initiator)),
            _ => self.preempt(initiator, change),
        }
    }

    fn register(
        &mut self,
        initiator: &str,
        change: &ReservationChange,
    ) -> Result<Notices, ReserveRefusal> {
        let present = self.key(initiator);
        let is_checked = change.action == ReserveAction::Register;
        if is_checked && present.unwrap_or(0) != change.key {
            return Err(ReserveRefusal::Conflict);
        }
        self.generation = self.generation.wrapping_add(1);
        match (present, change.new_key) {
            (None, 0) => Ok(Vec::new()),
            (None, key) => {
                self.keys.push((initiator.to_owned(), key));
                Ok(Vec::new())
            }
            (Some(_), 0) => Ok(self.unregister(initiator)),
            (Some(_), key) => {
                for known in self.keys.iter_mut().filter(|(name, _)| name == initiator) {
                    known.1 = key;
                }
                Ok(Vec::new())
            }
        }
    }

    fn unregister(&mut self, initiator: &str) -> Notices {
        let was_holder = self.is_holder(initiator);
        self.keys.retain(|(name, _)| name != initiator);
        let is_last = self.keys.is_empty();
        let Some(held) = self
            .held
            .take_if(|held| was_holder && (held.kind.exempt != Exempt::Holders || is_last))
        else {
            return Vec::new();
        };
        if held.kind.exempt == Exempt::HolderAlone {
            Vec::new()
        } else {
            self.others(initiator, Sense::RELEASED)
        }
    }

    fn reserve(
        &mut self,
        initiator: &str,
        kind: ReservationKind,
    ) -> Result<Notices, ReserveRefusal> {
        match &self.held {
            Some(held) if held.kind != kind || !self.is_holder(initiator) => {
                return Err(ReserveRefusal::Conflict);
            }
            Some(_) => {}
            None => self.held = Some(HeldReservation { kind, by: initiator.to_owned() }),
        }
        Ok(Vec::new())
    }

    fn release(
        &mut self,
        initiator: &str,
        kind: ReservationKind,
    ) -> Result<Notices, ReserveRefusal> {
        if !self.is_holder(initiator) {
            return Ok(Vec::new());
        }
        if self.held.as_ref().is_some_and(|held| held.kind != kind) {
            return Err(ReserveRefusal::Sense(Sense::INVALID_RELEASE));
        }
        self.held = None;
        if kind.exempt == Exempt::HolderAlone {
            return Ok(Vec::new());
        }
        Ok(self.others(initiator, Sense::RELEASED))
    }

    fn clear(&mut self, initiator: &str) -> Notices {
        let notices = self.others(initiator, Sense::RESERVATION_PREEMPTED);
        self.generation = self.generation.wrapping_add(1);
        self.held = None;
        self.keys.clear();
        notices
    }

    /// Every registered initiator except this one, each with the notice for it.
    fn others(&self, initiator: &str, sense: Sense) -> Notices {
        self.keys
            .iter()
            .filter(|(name, _)| name != initiator)
            .map(|(name, _)| (name.clone(), sense))
            .collect()
    }
}

#[cfg(test)]
mod tests;
