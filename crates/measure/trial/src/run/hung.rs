//! Ends a run if the storage does not answer: a task that waits for such a request would never
//! complete.

use std::cell::RefCell;

use device::JoinHandle;
use record::Severity;
use units::Nanos;

use super::Group;
use super::open::Opened;
use super::undone::{left_undone, remedy};
use crate::bounds::RunStage;
use crate::coordinator::Stop;
use crate::in_flight::Open;
use crate::outlast::{outlast, value_within};
use crate::sampler::Sampler;

/// Time within which everything that does not depend on the storage ends: the last sample is
/// written, phases end.
const GRACE: Nanos = Nanos::from_millis(500);

/// Why the current part is abandoned.
enum Hung<'a> {
    /// Requests were given up.
    Late(Vec<(&'a Opened, Open)>),
    /// A part of the run is out of time.
    Overdue(RunStage, Nanos),
}

impl Group {
    /// Waits for the end of `phases`, or until a request or a part of the run exceeds its time
    /// limit. Returns whether the storage may still be processing requests.
    pub(super) async fn outlast(
        &self,
        opened: &[Opened],
        sampler: &RefCell<Sampler>,
        mut phases: JoinHandle<()>,
    ) -> bool {
        let (runtime, give_up) = (&self.runtime, self.plan.test.give_up);
        let outcome = outlast(runtime, self.coordinator(), give_up, &mut phases, |moment| {
            let now = runtime.now();
            self.member.beat(now);
            let late = moment.map_or_else(Vec::new, |moment| late(opened, moment));
            if !late.is_empty() {
                return Some(Hung::Late(late));
            }
            self.member.countdown.look(now).map(|(part, time)| Hung::Overdue(part, time))
        });
        match outcome.await {
            Ok(()) => return false,
            Err(Hung::Late(late)) => self.give_up(&late),
            Err(Hung::Overdue(part, time)) => self.tell_unfinished(opened, (part, time)),
        }
        if value_within(runtime, &mut phases, GRACE).await.is_none() {
            self.leave_open(sampler);
        }
        self.member.leave();
        true
    }

    /// Reports the unfinished work of `part`, and ends the run.
    pub(super) fn tell_unfinished(&self, opened: &[Opened], (part, time): (RunStage, Nanos)) {
        let now = self.runtime.now();
        let seconds = time.as_secs_f64();
        for opened in opened {
            let Some((left, whose)) = left_undone(part, opened.standing()) else {
                continue;
            };
            let (path, waits) = (opened.location.path(), opened.meter.in_flight().in_words(now));
            opened.issue_recorder.unfinished(
                now,
                format!(
                    "{path}: {left}, {seconds:.0} s being all that there is for {whose}{waits}; {}",
                    remedy(part)
                ),
            );
        }
        self.coordinator().stop(Stop::Overdue);
    }

    /// Reports the unanswered requests, and ends the run.
    fn give_up(&self, late: &[(&Opened, Open)]) {
        let now = self.runtime.now();
        for (opened, open) in late {
            let had_its_time = now.since(open.since) >= self.plan.test.give_up;
            let severity = if had_its_time { Severity::Error } else { Severity::Warning };
            opened.issue_recorder.unanswered(now, open, severity);
        }
        self.coordinator().stop(Stop::Failed);
    }

    fn leave_open(&self, sampler: &RefCell<Sampler>) {
        sampler.borrow_mut().end();
        self.log(
            "databases that are open were left so, since the storage does not answer in time; they \
             are recovered when they are next opened"
                .to_owned(),
        );
    }
}

/// Requests of each database waiting since before `moment`.
fn late(opened: &[Opened], moment: Nanos) -> Vec<(&Opened, Open)> {
    let mut late = Vec::new();
    for one in opened {
        let open = one.meter.in_flight().asked_before(moment);
        late.extend(open.into_iter().map(|open| (one, open)));
    }
    late
}
