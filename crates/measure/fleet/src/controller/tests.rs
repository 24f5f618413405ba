//! A controller and its agents over a network in virtual time that delays, loses and repeats
//! messages, with hosts that die, stop for a while, or fail.

mod events;
mod fuzz;
mod turns;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plan::Plan;
use proptest::prelude::*;
use units::{Nanos, Prng, Seed};

use super::{ControllerEffect, FleetController, FleetStage};
use crate::{
    Agent, AgentAnswer, AgentEffect, AgentId, AgentSurroundings, Ask, ChildReport, ClockOffset,
    FleetEvent, FleetOrder, Heartbeat, HostFacts, HostWork, RunId,
};

const MS: u64 = 1_000_000;
const MEASURED: Nanos = Nanos::from_secs(30);

/// A host's fault, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    None,
    /// Agent and run die.
    Dies(u64),
    /// From the first second on, its messages are lost for the second number of seconds.
    IsCutOff(u64, u64),
    /// Its storage fails.
    Fails(u64),
}

enum Message {
    Heartbeat(Heartbeat),
    Ask(AgentId, Ask),
    AgentAnswer(AgentId, u64, AgentAnswer),
}

struct Anywhere;

impl AgentSurroundings for Anywhere {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_path_buf())
    }

    fn hindrance(&self, _: &Plan) -> Option<String> {
        None
    }
}

struct Node {
    agent: Agent,
    fate: Fate,
    /// Reports of its run, and their times.
    reports: Vec<(Nanos, ChildReport)>,
    /// When it was deliberately killed.
    killed: Option<Nanos>,
}

struct World {
    now: Nanos,
    prng: Prng,
    loss_percent: u64,
    controller: FleetController,
    nodes: BTreeMap<AgentId, Node>,
    wires: Vec<(Nanos, Message)>,
    notes: Vec<(Nanos, FleetEvent)>,
}

fn id(index: usize) -> AgentId {
    format!("a{index}").try_into().expect("a sound id")
}

fn order(hosts: usize, keys: &str, events: &str) -> FleetOrder {
    let parts = (0..hosts).map(|host| format!("[[host]]\nhost = \"EX{host}\"\nplan = \"p\"\n"));
    let text = format!("name = \"f\"\n{keys}{}{events}", parts.collect::<String>());
    FleetOrder::parse("fleet.toml", &text).expect("a sound plan")
}

/// Returns the plan of a host with one database per name.
fn host_plan(host: usize, databases: &[&str]) -> Plan {
    let folders: Vec<String> =
        databases.iter().map(|name| format!("\"/mnt/{host}/{name}\"")).collect();
    let text = format!(
        "[databases]\nfolders = [{}]\nsize = \"1GiB\"\n[workload]\ntarget_iops = 100\n",
        folders.join(", ")
    );
    Plan::parse("p", &text).expect("a sound plan")
}

fn node(index: usize, fate: Fate) -> Node {
    let host = format!("EX{index}");
    let facts = HostFacts { host, build: "b".to_owned(), ..HostFacts::default() };
    let agent = Agent::new(id(index), Nanos(1), facts, vec![PathBuf::from("/")], None);
    Node { agent, fate, reports: Vec::new(), killed: None }
}

impl Node {
    /// Kills and resumes its run as its agent requests, unless it is dead.
    fn take_duties(&mut self, now: Nanos) {
        if matches!(self.fate, Fate::Dies(at) if now >= Nanos::from_secs(at)) {
            return;
        }
        for effect in self.agent.due(now) {
            match effect {
                AgentEffect::Kill { .. } => {
                    self.reports = vec![(now, ChildReport::Ended { status: 2 })];
                    self.killed = Some(now);
                }
                AgentEffect::Resume { .. } => {
                    let later = now + Nanos::from_secs(20);
                    self.reports = vec![(later, ChildReport::Ended { status: 0 })];
                }
                other => panic!("no duty of these worlds: {other:?}"),
            }
        }
    }
}

impl World {
    fn new(seed: u64, loss_percent: u64, fates: &[Fate]) -> Self {
        Self::with_events(seed, loss_percent, fates, "")
    }

    /// A fleet whose plan has these events.
    fn with_events(seed: u64, loss_percent: u64, fates: &[Fate], events: &str) -> Self {
        Self::of((seed, loss_percent), fates, &order(fates.len(), "", events))
    }

    /// A fleet whose plan has these keys before its hosts.
    fn with_keys(seed: u64, fates: &[Fate], keys: &str) -> Self {
        Self::of((seed, 0), fates, &order(fates.len(), keys, ""))
    }

    fn of((seed, loss_percent): (u64, u64), fates: &[Fate], order: &FleetOrder) -> Self {
        let run: RunId = "r1".to_owned().try_into().expect("sound");
        let work = |host: usize| {
            let mut held: Vec<&str> = (order.databases.iter())
                .filter(|of| of.hosts.contains(&host))
                .map(|of| of.database.as_str())
                .collect();
            let own = format!("own{host}");
            if held.is_empty() {
                held.push(&own);
            }
            let plan = host_plan(host, &held);
            let duties = order.duties(host, &plan).expect("sound events");
            HostWork { plan: plan.to_toml(), duties }
        };
        let work: Vec<HostWork> = (0..fates.len()).map(work).collect();
        let nodes = fates.iter().enumerate().map(|(host, fate)| (id(host), node(host, *fate)));
        Self {
            now: Nanos::ZERO,
            prng: Prng::new(Seed(seed)),
            loss_percent,
            controller: FleetController::new((run, 1), order, work, MEASURED, Nanos::ZERO),
            nodes: nodes.collect(),
            wires: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn is_reachable(&self, agent: &AgentId) -> bool {
        let second = self.now.0 / (1_000 * MS);
        self.nodes.get(agent).is_some_and(|node| match node.fate {
            Fate::Dies(at) => second < at,
            Fate::IsCutOff(at, seconds) => !(at..at + seconds).contains(&second),
            Fate::None | Fate::Fails(_) => true,
        })
    }

    fn post(&mut self, agent: &AgentId, message: impl Fn() -> Message) {
        if !self.is_reachable(agent) || self.prng.below(100) < self.loss_percent {
            return;
        }
        let copies = 1 + u64::from(self.prng.below(20) == 0);
        for _ in 0..copies {
            let delay = Nanos(self.prng.below(40 * MS));
            self.wires.push((self.now + delay, message()));
        }
    }

    fn carry_out(&mut self, effects: Vec<ControllerEffect>) {
        for effect in effects {
            match effect {
                ControllerEffect::Note(event) => self.notes.push((self.now, event)),
                ControllerEffect::Send { agent, ask } => {
                    self.post(&agent, || Message::Ask(agent.clone(), ask.clone()));
                }
                ControllerEffect::Probe { agent } if self.is_reachable(&agent) => {
                    let clock = ClockOffset { offset_ns: 0, error_ns: 50_000 };
                    let further = self.controller.compared(&agent, clock, self.now);
                    self.carry_out(further);
                }
                ControllerEffect::Probe { .. } => {}
            }
        }
    }

    fn deliver(&mut self, message: Message) {
        let effects = match message {
            Message::Heartbeat(beat) => self.controller.heard(&beat, self.now),
            Message::AgentAnswer(agent, number, answer) => {
                self.controller.answered(&agent, number, answer, self.now)
            }
            Message::Ask(agent, ask) => {
                self.obey(&agent, ask);
                Vec::new()
            }
        };
        self.carry_out(effects);
    }

    fn obey(&mut self, agent: &AgentId, ask: Ask) {
        let now = self.now;
        let number = ask.number;
        let node = self.nodes.get_mut(agent).expect("a known agent");
        let (answer, effect) = node.agent.ask(ask, &Anywhere);
        let fails = match node.fate {
            Fate::Fails(at) => Some(Nanos::from_secs(at)),
            _ => None,
        };
        let later = |seconds| now + Nanos::from_secs(seconds);
        match effect {
            Some(AgentEffect::Fill { .. }) => node.reports.push((later(3), ChildReport::Filled)),
            Some(AgentEffect::Run { .. }) => node.reports.push((later(5), ChildReport::Warm)),
            Some(AgentEffect::Release { at_ns, .. }) => {
                node.reports.push((Nanos(at_ns), ChildReport::Measuring));
                let end = Nanos(at_ns) + MEASURED;
                let status = u8::from(fails.is_some_and(|at| at < end));
                node.reports.push((end, ChildReport::Ended { status }));
            }
            Some(AgentEffect::Stop { .. }) => {
                node.reports = vec![(later(1), ChildReport::Ended { status: 2 })];
            }
            Some(_) | None => {}
        }
        if let Some(answer) = answer {
            self.post(agent, || Message::AgentAnswer(agent.clone(), number, answer.clone()));
        }
    }

    fn step(&mut self) {
        self.now += Nanos::from_millis(10);
        let due = self.wires.extract_if(.., |(at, _)| *at <= self.now);
        for (_, message) in due.collect::<Vec<_>>() {
            self.deliver(message);
        }
        let now = self.now;
        for node in self.nodes.values_mut() {
            node.take_duties(now);
            let due: Vec<_> = node.reports.extract_if(.., |(at, _)| *at <= now).collect();
            for (_, report) in due {
                node.agent.child(report);
            }
        }
        if self.now.0.is_multiple_of(500 * MS) {
            self.beat();
        }
    }

    fn beat(&mut self) {
        for agent in self.nodes.keys().cloned().collect::<Vec<_>>() {
            let beat = self.nodes.get_mut(&agent).expect("a known agent").agent.beat();
            self.post(&agent, || Message::Heartbeat(beat.clone()));
        }
        let effects = self.controller.tick(self.now);
        self.carry_out(effects);
    }

    /// Runs until the controller ends, which it must.
    fn run(&mut self) {
        for _ in 0..100 * 3_600 * 2 {
            self.step();
            if self.controller.stage() == FleetStage::Ended {
                return;
            }
        }
        panic!("the controller still waits after two hours: {:?}", self.controller);
    }

    fn lost(&self) -> Vec<usize> {
        let lost = self.notes.iter().filter_map(|(_, event)| match event {
            FleetEvent::Lost { host, .. } => Some(*host),
            _ => None,
        });
        lost.collect()
    }
}

#[test]
fn all_hosts_measure_from_one_instant_and_end() {
    let mut world = World::new(1, 0, &[Fate::None; 4]);
    world.run();
    assert_eq!(world.controller.early(), None, "{:?}", world.notes);
    let ends = world
        .notes
        .iter()
        .filter(|(_, event)| matches!(event, FleetEvent::HostEnded { status: 0, .. }));
    assert_eq!(ends.count(), 4);
    assert!(world.now < Nanos::from_secs(60), "took {}", world.now);
}

#[test]
fn a_host_that_dies_is_named_within_twelve_seconds_and_the_others_end() {
    let mut world = World::new(2, 0, &[Fate::None, Fate::Dies(25), Fate::None]);
    world.run();
    assert_eq!(world.lost(), [1]);
    let (at, _) = world
        .notes
        .iter()
        .find(|(_, event)| matches!(event, FleetEvent::Lost { .. }))
        .expect("a loss");
    assert!(at.since(Nanos::from_secs(25)) < Nanos::from_secs(12), "noticed at {at}");
    let ends =
        world.notes.iter().filter(|(_, event)| matches!(event, FleetEvent::HostEnded { .. }));
    assert_eq!(ends.count(), 2);
}

#[test]
fn a_host_that_is_back_completes_the_run() {
    let mut world = World::new(3, 0, &[Fate::None, Fate::IsCutOff(20, 15)]);
    world.run();
    assert_eq!((world.lost(), world.controller.early()), (vec![1], None));
    assert!(world.notes.iter().any(|(_, event)| *event == FleetEvent::Back { host: 1 }));
    let status = FleetEvent::HostEnded { host: 1, status: 0 };
    assert!(world.notes.iter().any(|(_, event)| *event == status));
}

#[test]
fn a_host_that_never_appears_ends_the_run_with_its_name() {
    let mut world = World::new(4, 0, &[Fate::None, Fate::Dies(0)]);
    world.run();
    let early = world.controller.early().expect("an early end");
    assert!(early.contains("EX1") && early.contains("plimsoll agent"), "{early}");
}

#[test]
fn a_failure_of_storage_is_that_hosts_and_no_other() {
    let mut world = World::new(5, 0, &[Fate::None, Fate::Fails(20)]);
    world.run();
    for (host, status) in [(0, 0), (1, 1)] {
        let ended = FleetEvent::HostEnded { host, status };
        assert!(world.notes.iter().any(|(_, event)| *event == ended), "{ended:?}");
    }
}

fn fates() -> impl Strategy<Value = Fate> {
    prop_oneof![
        3 => Just(Fate::None),
        1 => (0_u64..60).prop_map(Fate::Dies),
        2 => (0_u64..60, 1_u64..40).prop_map(|(at, length)| Fate::IsCutOff(at, length)),
        1 => (0_u64..60).prop_map(Fate::Fails),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_controller_always_ends_and_blames_no_sound_host(
        seed in any::<u64>(),
        loss_percent in 0_u64..30,
        fates in prop::collection::vec(fates(), 1..6),
    ) {
        let mut world = World::new(seed, loss_percent, &fates);
        world.run();
        for host in world.lost() {
            let is_unsound = matches!(fates[host], Fate::Dies(_) | Fate::IsCutOff(..));
            // With 30 % of messages lost, ten seconds with 20 heartbeats are silent with a
            // probability of at most 10^-10.
            prop_assert!(is_unsound, "host {host} was sound: {fates:?}");
        }
    }
}
