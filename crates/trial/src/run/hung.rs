//! The end of a run whose storage does not answer: nothing that waits for such a request would
//! ever end by itself.

use std::cell::RefCell;

use device::JoinHandle;
use record::Severity;
use units::Nanos;

use super::Group;
use super::open::Opened;
use crate::coordinator::Stop;
use crate::in_flight::Open;
use crate::outlast::{outlast, value_within};
use crate::sampler::Sampler;

/// What can end without the storage has ended after this: the last sample is written, phases end.
const GRACE: Nanos = Nanos::from_millis(500);

impl Group {
    /// Waits for the end of `phases`, or until a request has waited for too long. Returns whether
    /// it gave one up.
    pub(super) async fn outlast(
        &self,
        opened: &[Opened],
        sampler: &RefCell<Sampler>,
        mut phases: JoinHandle<()>,
    ) -> bool {
        let (runtime, give_up) = (&self.runtime, self.plan.test.give_up);
        let outcome = outlast(runtime, self.coordinator(), give_up, &mut phases, |moment| {
            self.member.beat(runtime.now());
            moment.map_or_else(Vec::new, |moment| late(opened, moment))
        });
        let Err(late) = outcome.await else {
            return false;
        };
        self.give_up(&late);
        if value_within(runtime, &mut phases, GRACE).await.is_none() {
            self.leave_open(sampler);
        }
        self.member.leave();
        true
    }

    /// Tells what has no answer, and ends the run.
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
            "databases were left open, since the storage does not answer; they are recovered when \
             they are next opened"
                .to_owned(),
        );
    }
}

/// What each database has waited for since before `moment`.
fn late(opened: &[Opened], moment: Nanos) -> Vec<(&Opened, Open)> {
    let mut late = Vec::new();
    for one in opened {
        let open = one.meter.in_flight().asked_before(moment);
        late.extend(open.into_iter().map(|open| (one, open)));
    }
    late
}
