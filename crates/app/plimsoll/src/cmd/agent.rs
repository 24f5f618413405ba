//! `agent`: lets a fleet run plans on this host, within the folders that its administrator allows.

mod child;
mod copies;
pub(crate) mod flags;
mod gauge;
mod home;
mod publisher;
mod simulations;
mod surroundings;

use std::thread;
use std::time::{Duration, Instant};

use carrier::{Carrier, Letters, beats, clocks, orders};
use fleet::{
    Agent, AgentEffect, AgentId, Ask, ChildReport, HEARTBEAT, Heartbeat, KeptJob, RunId, decode,
    encode,
};

use fleets::access;
use host::StopFlag;

use child::Child;
use console::Outcome;
use console::error::CommandError;
use console::signals;
use console::{self, Console};
use copies::RunningReseeds;
use flags::AgentFlags;
use gauge::LoadGauge;
use home::Home;
use publisher::Publisher;
use simulations::Simulations;
use surroundings::ThisHost;

const STOPS: &str = "stopping the agent; a run that it started continues, and the next agent with \
                     this state folder adopts it";

/// Longest wait for an order between checks of the time.
const LOOK: Duration = Duration::from_millis(50);

/// Executes the fleet's orders until it is stopped.
pub(crate) fn run(flags: &AgentFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let stop = signals::install(STOPS)?;
    let access = access::access(flags.join.as_deref(), flags.credentials.as_deref(), "agent")?;
    let home = Home::open(&flags.state)?;
    let allowed = surroundings::real_folders(&flags.allow)?;
    let facts = surroundings::facts(flags.name.as_deref(), &allowed);
    console.remark(format_args!("Host {}, agent {}", facts.host, home.id()))?;
    if allowed.is_empty() {
        console.remark("No folder is allowed, so every plan is refused: --allow FOLDER")?;
    }
    let carrier = Carrier::connect(&access)?;
    carrier.make_ready()?;
    answer_clock(&carrier, home.id())?;
    let publisher = Publisher::start(Carrier::connect(&access)?, home.id().clone())?;
    let orders = carrier.subscribe(orders(home.id()))?;
    console.remark(format_args!("Joined {}; waiting for orders", access.server))?;
    let simulator = (flags.simulate, facts.host.as_str());
    let simulations = Simulations::start(simulator, &access, &flags.state, &stop)?;
    let agent = Agent::new(home.id().clone(), fleets::now(), facts, allowed, home.last_job());
    let (child, copies, gauge) = (None, RunningReseeds::default(), LoadGauge::default());
    let mut work =
        AgentWork { carrier, orders, publisher, simulations, home, agent, child, copies, gauge };
    work.take_up();
    work.obey_until(&stop)?;
    Ok(Outcome::Pass)
}

/// Answers clock queries on a separate thread, since an order may take longer.
fn answer_clock(carrier: &Carrier, id: &AgentId) -> Result<(), CommandError> {
    let questions = carrier.subscribe(clocks(id))?;
    let replies = carrier.replies();
    host::crew::start_thread("clock", move || {
        while !questions.is_closed() {
            if let Some(reply) = questions.next(Duration::from_secs(1)).and_then(|of| of.reply) {
                replies.publish(reply, fleets::now().0.to_string().into_bytes());
            }
        }
    })?;
    Ok(())
}

struct AgentWork {
    carrier: Carrier,
    orders: Letters,
    publisher: Publisher,
    simulations: Simulations,
    home: Home,
    agent: Agent,
    child: Option<Child>,
    copies: RunningReseeds,
    gauge: LoadGauge,
}

impl AgentWork {
    /// Adopts the job of an earlier agent.
    fn take_up(&mut self) {
        let Some(job) = self.agent.job().cloned() else { return };
        let folder = self.home.run_folder(&job.run);
        self.child = Some(Child::found(&job, &folder));
        self.gauge.follow(&folder);
        self.publisher.publish(job.run, &folder);
    }

    fn obey_until(&mut self, stop: &StopFlag) -> Result<(), CommandError> {
        let heartbeat = Duration::from_nanos(HEARTBEAT.0);
        let mut beaten = Instant::now().checked_sub(heartbeat);
        while !stop.is_set() {
            if let Some(letter) = self.orders.next(LOOK)
                && let Ok(ask) = decode::<Ask>(&letter.bytes)
            {
                self.obey(ask, letter.reply)?;
            }
            self.do_duties()?;
            self.watch_child()?;
            self.simulations.look_at(self.agent.job());
            if beaten.is_none_or(|at| at.elapsed() >= heartbeat) {
                beaten = Some(Instant::now());
                let beat = Heartbeat { load: self.gauge.read(), ..self.agent.beat() };
                let beat = encode(&beat);
                // A lost server comes back; the client reconnects.
                let _ = self.carrier.publish(beats(self.home.id()), beat);
            }
        }
        Ok(())
    }

    fn obey(&mut self, ask: Ask, reply: Option<String>) -> Result<(), CommandError> {
        let (answer, effect) = self.agent.ask(ask, &ThisHost);
        if let Some(effect) = effect {
            self.carry_out(effect)?;
            self.home.keep(self.agent.kept())?;
        }
        if let (Some(answer), Some(reply)) = (answer, reply) {
            let _ = self.carrier.publish(reply, encode(&answer));
        }
        Ok(())
    }

    /// Performs the deliberate actions that the fleet's plan has scheduled for this host by now.
    fn do_duties(&mut self) -> Result<(), CommandError> {
        let due = self.agent.due(fleets::now());
        let reports = self.copies.reports();
        let has_changed = !due.is_empty() || !reports.is_empty();
        for effect in due {
            self.carry_out(effect)?;
        }
        for report in reports {
            self.agent.copied(report);
        }
        if has_changed { self.home.keep(self.agent.kept()) } else { Ok(()) }
    }

    fn kill(&mut self) {
        if let Some(child) = self.child.take() {
            child.kill();
        }
        self.copies.stop();
        if !self.agent.kept().is_some_and(KeptJob::returns) {
            self.publisher.has_ended();
        }
    }

    fn carry_out(&mut self, effect: AgentEffect) -> Result<(), CommandError> {
        match effect {
            AgentEffect::Fill { run, plan } => self.begin(&run, &plan, Child::fill),
            AgentEffect::Run { run, plan, duties } => {
                child::leave_steps(&self.home.make_run_folder(&run, &plan)?, &duties)?;
                self.begin(&run, &plan, Child::run)?;
                self.gauge.follow(&self.home.run_folder(&run));
                self.publisher.publish(run.clone(), &self.home.run_folder(&run));
                Ok(())
            }
            AgentEffect::Release { run, at_ns } => {
                let released = child::release(&self.home.run_folder(&run), at_ns);
                self.report(released.as_ref().err().map_or(ChildReport::Measuring, failed));
                Ok(())
            }
            AgentEffect::Kill { .. } => {
                self.kill();
                Ok(())
            }
            AgentEffect::Resume { run } => {
                match Child::resume(&self.home.run_folder(&run)) {
                    Ok(child) => self.child = Some(child),
                    Err(error) => self.report(failed(&error)),
                }
                Ok(())
            }
            AgentEffect::Copy { run, database, side, bytes_per_second } => {
                let folder = self.home.run_folder(&run);
                self.copies.start(&folder, (database, side), bytes_per_second)
            }
            AgentEffect::Stop { run } => {
                self.copies.stop();
                if let Some(child) = &mut self.child {
                    child.stop(&self.home.run_folder(&run));
                }
                Ok(())
            }
            AgentEffect::Resend { run, from_byte } => {
                self.publisher.publish_from(run.clone(), &self.home.run_folder(&run), from_byte);
                Ok(())
            }
        }
    }

    fn begin(
        &mut self,
        run: &RunId,
        plan: &str,
        start: fn(&std::path::Path) -> Result<Child, CommandError>,
    ) -> Result<(), CommandError> {
        let folder = self.home.make_run_folder(run, plan)?;
        match start(&folder) {
            Ok(child) => self.child = Some(child),
            Err(error) => self.report(failed(&error)),
        }
        Ok(())
    }

    fn report(&mut self, report: ChildReport) {
        if let ChildReport::Failed { why } = &report {
            console::complain(why);
        }
        self.agent.child(report);
    }

    fn watch_child(&mut self) -> Result<(), CommandError> {
        let Some(child) = &mut self.child else { return Ok(()) };
        let Some(report) = child.look() else { return Ok(()) };
        if matches!(report, ChildReport::Ended { .. } | ChildReport::Failed { .. }) {
            self.publisher.has_ended();
            self.child = None;
        }
        self.report(report);
        self.home.keep(self.agent.kept())
    }
}

fn failed(error: &CommandError) -> ChildReport {
    let why = error.told().map_or_else(String::new, |(text, _)| text.to_owned());
    ChildReport::Failed { why }
}

impl Drop for AgentWork {
    fn drop(&mut self) {
        // Gives the publisher time to send the last piece of a journal.
        let began = Instant::now();
        while self.publisher.is_busy() && began.elapsed() < Duration::from_secs(5) {
            thread::sleep(LOOK);
        }
    }
}
