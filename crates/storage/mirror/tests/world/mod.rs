//! Two hosts, a registry, a backing store and everything that can go wrong between them, in
//! virtual time; the guests' history is checked as it grows.
//!
//! A seed draws clocks, lines, faults and work. After the faults the world heals, and every block
//! must be readable again within a bound.

mod backing;
mod checker;
mod faults;
mod guest;
mod host;
mod network;
mod registry;
mod tally;

use std::collections::BTreeMap;
use std::fmt;

use mirror::{
    Authority, CountedCopies, GuestOutcome, MirrorHost, MirrorSettings, NodeEffect, NodeEvent,
    PeerMessage, RegistryOp,
};
use units::{Nanos, Prng, Seed};

use crate::model::{Explored, Seen};
use backing::Backing;
use checker::History;
use guest::Guest;
use host::Machine;
use network::Line;
use registry::Registry;
pub(crate) use tally::Tally;

/// Duration of the faults.
const TROUBLE: Nanos = Nanos::from_secs(60);
/// Time after the faults within which healthy hosts must serve the volume again.
const RECOVERY: Nanos = Nanos::from_secs(60);
/// Steps of the hosts' timers.
const TICK: Nanos = Nanos::from_millis(50);

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) seed: u64,
    pub(crate) at: Nanos,
    pub(crate) problem: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, at, problem } = self;
        write!(
            f,
            "seed {seed}, at {at}: {problem}\n\
             reproduce with: cargo xtask mirror --first {seed} --seeds 1"
        )
    }
}

/// An event of the simulated world.
enum Happening {
    Tick,
    /// For this start of the host's program; 0 for any start.
    Event(MirrorHost, u64, NodeEvent),
    Flash(MirrorHost, u64),
    Registry(MirrorHost, u64, u64, RegistryOp),
    Backing(MirrorHost, u64, u64, u64, mirror::BackingOp),
    /// Effects of a step that were delayed by a pause.
    Effects(MirrorHost, u64, Vec<NodeEffect>),
    Guest(u64),
    Fault,
    Start(MirrorHost, u64),
}

/// See the module.
pub(crate) struct World {
    settings: MirrorSettings,
    prng: Prng,
    now: Nanos,
    due: BTreeMap<(Nanos, u64), Happening>,
    scheduled: u64,
    machines: [Machine; 2],
    /// From A to B, and from B to A.
    lines: [Line; 2],
    /// To the registry and from it, for each host.
    registry_lines: [[Line; 2]; 2],
    registry: Registry,
    backing: Backing,
    history: History,
    guest: Guest,
    tally: Tally,
    is_healed: bool,
    specification: Option<Explored>,
    seen: Option<Seen>,
}

fn index(host: MirrorHost) -> usize {
    usize::from(host == MirrorHost::B)
}

/// Runs one seed; some of those without a backing store are compared with the specification.
pub(crate) fn run(seed: u64, specification: &Explored) -> Result<Tally, Broken> {
    let mut world = World::new(seed);
    let is_specified = !world.settings.backed && seed.is_multiple_of(4);
    world.specification = is_specified.then(|| specification.clone());
    let outcome = world.live();
    let at = world.now;
    outcome.map_err(|problem| Broken { seed, at, problem })?;
    Ok(world.tally())
}

impl World {
    fn new(seed: u64) -> Self {
        let mut prng = Prng::new(Seed(seed).derive(0x0031_1202));
        let settings = drawn_settings(&mut prng);
        let bound = i64::try_from(settings.clock_drift_ppm).expect("a small number");
        let mut drift = || [-bound, 0, bound][usize::try_from(prng.below(3)).expect("below 3")];
        let drifts = [drift(), drift(), drift()];
        let authority = if settings.backed && prng.percent(50) {
            Authority::Backing
        } else {
            Authority::Flash(CountedCopies::Both)
        };
        let mut line = || Line::drawn(&mut prng);
        let lines = [line(), line()];
        let registry_lines = [[line(), line()], [line(), line()]];
        let machines = [
            Machine::new(MirrorHost::A, settings, drifts[0], &mut prng),
            Machine::new(MirrorHost::B, settings, drifts[1], &mut prng),
        ];
        Self {
            settings,
            now: Nanos::ZERO,
            due: BTreeMap::new(),
            scheduled: 0,
            machines,
            lines,
            registry_lines,
            registry: Registry::new(&settings, authority, drifts[2]),
            backing: Backing::default(),
            history: History::new(!settings.backed),
            guest: Guest::new(&mut prng),
            tally: Tally::default(),
            is_healed: false,
            specification: None,
            seen: None,
            prng,
        }
    }

    fn tally(&self) -> Tally {
        Tally {
            seeds: 1,
            takeovers: self.registry.takeovers,
            acknowledged: self.history.acknowledged,
            reads: self.history.reads,
            destaged: self.backing.writes,
            refused_by_fence: self.backing.refused,
            ..self.tally
        }
    }

    fn live(&mut self) -> Result<(), String> {
        for host in [MirrorHost::A, MirrorHost::B] {
            self.machines[index(host)].start();
        }
        self.at(TICK, Happening::Tick);
        self.at(Nanos::from_millis(500), Happening::Fault);
        for worker in 0..guest::WORKERS {
            self.at(Nanos::from_millis(worker), Happening::Guest(worker));
        }
        self.run_until(TROUBLE)?;
        self.heal()?;
        self.run_until(TROUBLE + RECOVERY)?;
        self.final_checks()
    }

    fn run_until(&mut self, end: Nanos) -> Result<(), String> {
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 < end) {
            self.now = entry.key().0;
            let happening = entry.remove();
            self.happen(happening)?;
            self.compare()?;
        }
        self.now = end;
        Ok(())
    }

    /// Checks that the specification allows the last change.
    fn compare(&mut self) -> Result<(), String> {
        let Some(specification) = &self.specification else { return Ok(()) };
        let after = self.see();
        let before = self.seen.replace(after).unwrap_or(after);
        if specification.allows(before, after) {
            self.tally.specified_changes += u64::from(before != after);
            return Ok(());
        }
        Err(format!("the specification has no step from {before:?} to {after:?}"))
    }

    fn see(&self) -> Seen {
        let config = self.registry.config();
        let copies = match config.authority {
            Authority::Flash(copies) => copies,
            Authority::Backing => CountedCopies::Both,
        };
        let serving = self.machines.iter().find(|machine| machine.is_serving(self.now));
        let holds = |machine: &Machine| {
            (0..checker::BLOCKS).all(|block| {
                let must = self.history.last_acknowledged(block);
                must == 0 || machine.holds(block, must)
            })
        };
        let holds_all = [holds(&self.machines[0]), holds(&self.machines[1])];
        Seen { owner: config.owner, copies, serving: serving.map(|one| one.host), holds_all }
    }

    fn at(&mut self, delay: Nanos, happening: Happening) {
        self.scheduled += 1;
        self.due.insert((self.now + delay, self.scheduled), happening);
    }

    fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Tick => self.tick(),
            Happening::Event(host, boot, event) => self.deliver(host, boot, event),
            Happening::Flash(host, boot) => self.flash(host, boot),
            Happening::Registry(host, boot, id, op) => {
                self.ask_registry(host, boot, id, op);
                Ok(())
            }
            Happening::Backing(host, boot, token, epoch, op) => {
                let now = self.now;
                let (answer, written) = self.backing.answer(now, epoch, op, &mut self.prng);
                let delay = Nanos::from_micros(100 + self.prng.below(500));
                self.at(delay, Happening::Event(host, boot, NodeEvent::Backing(token, answer)));
                written.map_or(Ok(()), |(block, data)| self.history.destaged(block, &data))
            }
            Happening::Effects(host, boot, effects) => self.carry_out(host, boot, effects),
            Happening::Guest(worker) => self.guest_step(worker),
            Happening::Fault => self.fault(),
            Happening::Start(host, boot) => {
                let machine = &mut self.machines[index(host)];
                if machine.node.is_none() && machine.boot == boot {
                    machine.start();
                }
                Ok(())
            }
        }
    }

    fn tick(&mut self) -> Result<(), String> {
        self.at(TICK, Happening::Tick);
        for host in [MirrorHost::A, MirrorHost::B] {
            if self.machines[index(host)].paused_until <= self.now {
                self.machines[index(host)].maybe_settle(5);
                self.deliver(host, 0, NodeEvent::Tick)?;
            }
        }
        let serving = self.machines.iter().filter(|machine| machine.is_serving(self.now));
        if serving.count() > 1 {
            return Err("both hosts serve the volume".to_owned());
        }
        Ok(())
    }

    /// Hands an event to a host's program, unless that has ended; a paused one gets it later.
    fn deliver(&mut self, host: MirrorHost, boot: u64, event: NodeEvent) -> Result<(), String> {
        let now = self.now;
        let machine = &mut self.machines[index(host)];
        if machine.node.is_none() || (boot != 0 && boot != machine.boot) {
            return Ok(());
        }
        if now < machine.paused_until {
            let wait = machine.paused_until - now;
            self.at(wait, Happening::Event(host, boot, event));
            return Ok(());
        }
        let owned = machine.owns(now);
        let effects = machine.handle(now, event);
        let is_owner = owned || machine.owns(now);
        self.check_lease(host, is_owner, &effects)?;
        self.note(host);
        let machine = &mut self.machines[index(host)];
        if let Some(pause) = machine.pause_within_step.take_if(|_| !effects.is_empty()) {
            machine.paused_until = now + pause;
            let boot = machine.boot;
            self.at(pause, Happening::Effects(host, boot, effects));
            return Ok(());
        }
        let boot = machine.boot;
        self.carry_out(host, boot, effects)
    }

    /// When an owner answers, the registry must name it as the holder at that moment.
    fn check_lease(
        &self,
        host: MirrorHost,
        owner: bool,
        effects: &[NodeEffect],
    ) -> Result<(), String> {
        let answers = effects.iter().any(|effect| match effect {
            NodeEffect::Reply(_, outcome) => {
                owner && matches!(outcome, GuestOutcome::Done | GuestOutcome::Value(_))
            }
            NodeEffect::Send(PeerMessage::RemoteValue { .. }) => true,
            _ => false,
        });
        let holder = self.registry.holder(self.now);
        if answers && holder != Some(host) {
            return Err(format!("host {host:?} answers although {holder:?} holds the lease"));
        }
        Ok(())
    }

    fn note(&mut self, host: MirrorHost) {
        let machine = &self.machines[index(host)];
        if let Some(node) = &machine.node {
            self.tally.note(&node.status(machine.local(self.now)));
        }
    }

    fn carry_out(
        &mut self,
        host: MirrorHost,
        boot: u64,
        effects: Vec<NodeEffect>,
    ) -> Result<(), String> {
        let machine = &self.machines[index(host)];
        if machine.node.is_none() || machine.boot != boot {
            return Ok(()); // Lost with the power.
        }
        effects.into_iter().try_for_each(|effect| self.effect(host, effect))
    }

    fn effect(&mut self, host: MirrorHost, mut effect: NodeEffect) -> Result<(), String> {
        let boot = self.machines[index(host)].boot;
        if !self.fetch(host, &mut effect)? {
            return match effect {
                NodeEffect::Reply(id, _) => self.guest_answer(id, &GuestOutcome::Unknown),
                _ => Ok(()),
            };
        }
        match effect {
            NodeEffect::Reply(id, outcome) => return self.guest_answer(id, &outcome),
            NodeEffect::Send(message) => self.send(host, &message),
            NodeEffect::Flash(op) => {
                self.machines[index(host)].write_flash(op);
                let delay = Nanos::from_micros(20 + self.prng.below(400));
                self.at(delay, Happening::Flash(host, boot));
            }
            NodeEffect::Backing { token, epoch, op } => {
                let slow = if self.prng.percent(1) { 4_000_000 } else { 4_000 };
                let delay = Nanos::from_micros(200 + self.prng.below(slow));
                self.at(delay, Happening::Backing(host, boot, token, epoch, op));
            }
            NodeEffect::Registry { id, op } => {
                let line = &self.registry_lines[index(host)][0];
                for arrival in line.arrivals(self.now, &mut self.prng) {
                    let happening = Happening::Registry(host, boot, id, op);
                    self.at(arrival - self.now, happening);
                }
            }
        }
        Ok(())
    }

    /// Brings the contents of `effect` into memory; `false` if one has been overwritten meanwhile.
    fn fetch(&mut self, host: MirrorHost, effect: &mut NodeEffect) -> Result<bool, String> {
        let machine = &self.machines[index(host)];
        for content in effect.contents() {
            self.tally.fetched += u64::from(content.here().is_none());
            let Some(data) = machine.fetch(content) else {
                let is_lost = machine.still_needs(content);
                let problem = || format!("{host:?}: {content:?} is not at its home");
                return if is_lost { Err(problem()) } else { Ok(false) };
            };
            *content = data.into();
        }
        Ok(true)
    }

    fn flash(&mut self, host: MirrorHost, boot: u64) -> Result<(), String> {
        let machine = &mut self.machines[index(host)];
        if machine.boot != boot || machine.node.is_none() {
            return Ok(());
        }
        let event = machine.complete_flash();
        event.map_or(Ok(()), |event| self.deliver(host, boot, event))
    }

    fn send(&mut self, from: MirrorHost, message: &PeerMessage) {
        let arrivals = self.lines[index(from)].arrivals(self.now, &mut self.prng);
        for arrival in arrivals {
            let event = NodeEvent::Peer(message.clone());
            self.at(arrival - self.now, Happening::Event(from.other(), 0, event));
        }
    }

    fn ask_registry(&mut self, host: MirrorHost, boot: u64, id: u64, op: RegistryOp) {
        let answer = self.registry.answer(self.now, host, op);
        let line = &self.registry_lines[index(host)][1];
        for arrival in line.arrivals(self.now, &mut self.prng) {
            let event = NodeEvent::Registry(id, answer);
            self.at(arrival - self.now, Happening::Event(host, boot, event));
        }
    }

    /// Checks that, once all is healed, some host serves and has read every block for the guest.
    fn final_checks(&mut self) -> Result<(), String> {
        let config = self.registry.config();
        if !self.machines.iter().any(|machine| machine.is_serving(self.now)) {
            let states: Vec<_> = self
                .machines
                .iter()
                .map(|machine| {
                    machine.node.as_ref().map(|node| node.status(machine.local(self.now)))
                })
                .collect();
            return Err(format!("no host serves, with {config:?}: {states:?}"));
        }
        let is_drained = config.authority == Authority::Backing;
        for block in 0..checker::BLOCKS {
            if !self.guest.has_read(block) {
                return Err(format!("block {block} could not be read after the faults"));
            }
            let (must, has) = (self.history.last_acknowledged(block), self.history.backing(block));
            if self.settings.backed && is_drained && has < must {
                return Err(format!("backing store: block {block} is at {has}, must be {must}"));
            }
        }
        Ok(())
    }
}

fn drawn_settings(prng: &mut Prng) -> MirrorSettings {
    MirrorSettings {
        backed: prng.percent(60),
        clock_drift_ppm: 20_000,
        dirty_limit: 5 + prng.below(60),
        epoch_age: Nanos::from_millis(200),
        retained: [2, 8, 1_000][usize::try_from(prng.below(3)).expect("below 3")],
        batch_blocks: 2,
        batch_pause: Nanos::from_millis(50),
        hand_over_limit: Nanos::from_secs(3),
        ..MirrorSettings::default()
    }
}
