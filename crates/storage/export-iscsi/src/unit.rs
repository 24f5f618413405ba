//! State that the sessions of one logical unit share: reservations, and the notices that each has
//! yet to receive.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::reservations::{
    Notices, ReservationChange, Reservations, ReserveAction, ReserveRefusal,
};
use crate::scsi::{CommandAccess, Sense};

/// State of a logical unit. Clones share it.
#[derive(Clone, Default)]
pub struct SharedUnit(Arc<Mutex<UnitState>>);

impl fmt::Debug for SharedUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedUnit")
    }
}

#[derive(Default)]
struct UnitState {
    next: u64,
    seats: BTreeMap<u64, SeatState>,
    reservations: Reservations,
    /// Holder of an SPC-2 reservation, which ends with its session.
    reserved_by: Option<u64>,
}

/// One session.
struct SeatState {
    initiator: String,
    /// Unit attentions to report instead of the next commands.
    attention: VecDeque<Sense>,
    /// Number of times that its commands were aborted from elsewhere.
    aborts: u64,
}

impl UnitState {
    fn notify(&mut self, notices: Notices, aborts: bool) {
        for (initiator, sense) in notices {
            for seat in self.seats.values_mut().filter(|seat| seat.initiator == initiator) {
                seat.attention.push_back(sense);
                if aborts && sense == Sense::REGISTRATION_PREEMPTED {
                    seat.aborts += 1;
                }
            }
        }
    }
}

impl SharedUnit {
    fn lock(&self) -> MutexGuard<'_, UnitState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session's registration with a unit, removed when it is dropped.
pub(crate) struct UnitSeat {
    unit: SharedUnit,
    number: u64,
}

impl UnitSeat {
    /// Adds a session of an initiator port; it begins with a unit attention for a reset.
    pub(crate) fn new(unit: &SharedUnit, initiator: &str) -> Self {
        let mut state = unit.lock();
        let number = state.next;
        state.next += 1;
        let attention = VecDeque::from([Sense::RESET]);
        let seat = SeatState { initiator: initiator.to_owned(), attention, aborts: 0 };
        state.seats.insert(number, seat);
        Self { unit: unit.clone(), number }
    }

    /// The unit attention to report instead of the next command.
    pub(crate) fn attention(&self) -> Option<Sense> {
        self.unit.lock().seats.get_mut(&self.number)?.attention.pop_front()
    }

    /// A count that changes when the session's commands are aborted from elsewhere.
    pub(crate) fn aborts(&self) -> u64 {
        self.unit.lock().seats.get(&self.number).map_or(0, |seat| seat.aborts)
    }

    /// `true` if no reservation keeps a command of that class from the session.
    pub(crate) fn admits(&self, access: CommandAccess) -> bool {
        let state = self.unit.lock();
        let Some(seat) = state.seats.get(&self.number) else { return false };
        let is_elsewhere = state.reserved_by.is_some_and(|holder| holder != self.number);
        let is_free = !is_elsewhere || access == CommandAccess::Always;
        is_free && state.reservations.admits(&seat.initiator, access)
    }

    /// Makes an SPC-2 reservation of the unit; `false` if another session holds one, or if keys are
    /// registered.
    pub(crate) fn reserve(&self) -> bool {
        let mut state = self.unit.lock();
        if !state.reservations.is_empty() {
            return false;
        }
        *state.reserved_by.get_or_insert(self.number) == self.number
    }

    /// Releases what [`Self::reserve`] reserved.
    pub(crate) fn release(&self) {
        let mut state = self.unit.lock();
        let number = self.number;
        state.reserved_by.take_if(|holder| *holder == number);
    }

    /// Answers PERSISTENT RESERVE IN.
    pub(crate) fn report(&self, action: u8) -> Result<Vec<u8>, Sense> {
        self.unit.lock().reservations.report(action)
    }

    /// Carries out PERSISTENT RESERVE OUT.
    pub(crate) fn change(&self, change: &ReservationChange) -> Result<(), ReserveRefusal> {
        let mut state = self.unit.lock();
        let Some(seat) = state.seats.get(&self.number) else {
            return Err(ReserveRefusal::Conflict);
        };
        let initiator = seat.initiator.clone();
        let notices = state.reservations.change(&initiator, change)?;
        state.notify(notices, change.action == ReserveAction::PreemptAndAbort);
        Ok(())
    }

    /// Resets the unit: every session's commands are aborted, and each learns of it.
    pub(crate) fn reset(&self) {
        let mut state = self.unit.lock();
        state.reserved_by = None;
        for seat in state.seats.values_mut() {
            seat.attention.clear();
            seat.attention.push_back(Sense::RESET);
            seat.aborts += 1;
        }
    }
}

impl Drop for UnitSeat {
    fn drop(&mut self) {
        self.release();
        self.unit.lock().seats.remove(&self.number);
    }
}
