//! Searches for the number of sessions that the storage carries, all groups in step.

use plan::Sessions as Wanted;
use record::{Event, Phase, Tuned};
use units::Nanos;

use super::open::Opened;
use super::{Group, GroupLoad, LOOK};
use crate::pace::enough_iops;
use crate::policy;
use crate::tune::{Advice, SearchGoal, TuneStep, advise, by_sessions};

impl Group {
    /// Leaves each database with as many sessions as it carries within the limits, unless the plan
    /// gives a number. Returns the target of a database of average weight, in database reads and
    /// writes per second: its part of the plan's target, or of a share of the highest load, if the
    /// plan asks for one.
    pub(super) async fn tune(&self, opened: &[Opened], load: &mut GroupLoad) -> Option<f64> {
        let mut held_iops = policy::target_of_a_database(&self.plan);
        let is_share = policy::share_of_highest(&self.plan, 0.0).is_some();
        if self.plan.workload.sessions != Wanted::Auto && !is_share {
            return held_iops;
        }
        self.begin(Phase::Tune, opened);
        if let Some(found) = self.search(opened, load).await {
            let target_iops = policy::share_of_highest(&self.plan, found.iops);
            if let Some(target) = target_iops {
                held_iops = Some(f64::from(target) / self.plan.databases.len() as f64);
            }
            if self.is_leader {
                (self.events)(Event::Tuned(Tuned {
                    at_ns: self.elapsed(),
                    sessions_per_database: found.sessions,
                    target_iops,
                }));
            }
        }
        self.end(Phase::Tune, opened);
        held_iops
    }

    /// Result of the search; `None` if the run must end.
    async fn search(&self, opened: &[Opened], load: &mut GroupLoad) -> Option<TuneStep> {
        let span = policy::tuning_step(self.plan.test.duration);
        let goal = SearchGoal {
            read_average: self.plan.limits.read_average,
            log_write_average: self.plan.limits.log_write_average,
            enough_iops: enough_iops(&self.plan, self.coordinator().load_steps(), span),
        };
        let mut steps: Vec<TuneStep> = Vec::new();
        loop {
            let advice = match self.plan.workload.sessions {
                Wanted::Auto => advise(&steps, goal),
                // With a fixed session count only its throughput is left to measure.
                Wanted::Count(count) if steps.is_empty() => Advice::Try(count),
                Wanted::Count(count) => Advice::Settle(count),
            };
            match advice {
                Advice::Settle(count) => {
                    load.sessions.set_and_settle(count, &self.plan).await;
                    let found = by_sessions(&steps).into_iter().find(|of| of.sessions == count)?;
                    let factor = self.coordinator().load_steps().sessions_factor(&self.plan);
                    let sessions = found.sessions.saturating_mul(factor);
                    load.sessions.set(sessions, &self.plan);
                    return Some(TuneStep { sessions, ..found });
                }
                Advice::Try(count) => {
                    load.sessions.set_and_settle(count, &self.plan).await;
                    let step = self.step(steps.len(), count, opened, load).await?;
                    self.log_step(&step);
                    steps.push(step);
                }
            }
        }
    }

    /// Measures `sessions` sessions of each database for a while, after they have settled.
    async fn step(
        &self,
        number: usize,
        sessions: u32,
        opened: &[Opened],
        load: &mut GroupLoad,
    ) -> Option<TuneStep> {
        let span = policy::tuning_step(self.plan.test.duration);
        self.pause(Nanos(span.0 / 4), opened).await?;
        load.sampler.borrow_mut().sample(Phase::Tune);
        let began = self.runtime.now();
        self.pause(span, opened).await?;
        let seen = load.sampler.borrow_mut().sample(Phase::Tune);
        let looked = self.runtime.now().since(began);
        self.coordinator().add_up(number, sessions, (seen, looked), &self.runtime).await
    }

    /// Lets the load run for `span`; `None` if the run must end.
    async fn pause(&self, span: Nanos, opened: &[Opened]) -> Option<()> {
        let end = self.runtime.now() + span;
        while self.runtime.now() < end {
            if self.ends_early(opened) {
                return None;
            }
            self.runtime.sleep_until((self.runtime.now() + LOOK).min(end)).await;
        }
        Some(())
    }

    fn log_step(&self, step: &TuneStep) {
        if self.is_leader {
            self.log(format!(
                "{} sessions per database: {:.0} IOPS, reads {:.2} ms, log writes {:.2} ms",
                step.sessions,
                step.iops,
                step.read_average.as_secs_f64() * 1e3,
                step.log_write_average.as_secs_f64() * 1e3,
            ));
        }
    }
}
