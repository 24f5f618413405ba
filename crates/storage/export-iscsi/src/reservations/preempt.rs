//! Preemption: removes keys of other initiators.

use super::{
    Exempt, HeldReservation, Notices, ReservationChange, ReservationKind, Reservations,
    ReserveRefusal,
};
use crate::scsi::Sense;

impl Reservations {
    /// Takes a key away, and the reservation with it if its holder had that key.
    pub(super) fn preempt(
        &mut self,
        initiator: &str,
        change: &ReservationChange,
    ) -> Result<Notices, ReserveRefusal> {
        let kind = change.kind()?;
        let victim = change.new_key;
        let takes_all = victim == 0;
        let holds_all = self.held.as_ref().is_some_and(|held| held.kind.exempt == Exempt::Holders);
        if takes_all && !holds_all {
            return Err(ReserveRefusal::Sense(Sense::INVALID_PARAMETER));
        }
        if !takes_all && !self.keys.iter().any(|(_, key)| *key == victim) {
            return Err(ReserveRefusal::Conflict);
        }
        let holder = self.held.as_ref().filter(|_| !holds_all).and_then(|held| self.key(&held.by));
        let takes_reservation = takes_all || holder == Some(victim);
        self.generation = self.generation.wrapping_add(1);
        let loses =
            |(name, key): &(String, u64)| name != initiator && (takes_all || *key == victim);
        let mut notices: Notices = self
            .keys
            .extract_if(.., |known| loses(known))
            .map(|(name, _)| (name, Sense::REGISTRATION_PREEMPTED))
            .collect();
        if takes_reservation {
            notices.extend(self.take_over(initiator, kind));
        }
        Ok(notices)
    }

    /// Replaces the reservation by one of `kind`; returns notices for the remaining initiators that
    /// depended on the old one.
    fn take_over(&mut self, initiator: &str, kind: ReservationKind) -> Notices {
        let old = self.held.replace(HeldReservation { kind, by: initiator.to_owned() });
        let old = old.filter(|old| old.kind != kind && old.kind.exempt != Exempt::HolderAlone);
        old.map(|_| self.others(initiator, Sense::RELEASED)).unwrap_or_default()
    }
}
