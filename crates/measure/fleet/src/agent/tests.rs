use std::path::{Path, PathBuf};

use plan::Plan;
use units::Nanos;

use super::{Agent, AgentEffect, AgentSurroundings, ChildReport};
use crate::{
    AgentAnswer, AgentOrder, AgentStep, Ask, CopyReport, CopySide, Duty, DutyAct, HostFacts, RunId,
};

/// A host with two folders and a link out of one of them.
struct Host {
    hindrance: Option<String>,
}

impl AgentSurroundings for Host {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        match path.to_str()? {
            "/mnt/db1" | "/mnt/db2" | "/etc" | "/mnt" | "/" => Some(path.to_path_buf()),
            "/mnt/db1/link" => Some(PathBuf::from("/etc")),
            _ => None,
        }
    }

    fn hindrance(&self, _: &Plan) -> Option<String> {
        self.hindrance.clone()
    }
}

const FREE: Host = Host { hindrance: None };

fn plan(folder: &str) -> String {
    let overrides = plan::Overrides::default();
    Plan::quick(folder, &overrides).expect("a sound plan").to_toml()
}

fn agent() -> Agent {
    let id = "a1".to_owned().try_into().expect("a sound id");
    let facts = HostFacts { host: "EX01".to_owned(), ..HostFacts::default() };
    Agent::new(id, Nanos(5), facts, vec![PathBuf::from("/mnt/db1")], None)
}

fn run(name: &str) -> RunId {
    name.to_owned().try_into().expect("a sound id")
}

fn start(number: u64, name: &str) -> Ask {
    Ask {
        epoch: 1,
        number,
        order: AgentOrder::Start { run: run(name), plan: plan("/mnt/db1/new"), duties: Vec::new() },
    }
}

fn refusal(answer: Option<AgentAnswer>) -> String {
    match answer {
        Some(AgentAnswer::Refused { why }) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_folder_that_was_not_allowed_is_refused_by_the_agent() {
    for folder in ["/mnt/db2/x", "/etc", "/mnt/db1/link/x", "/mnt/db1/../db2", "/mnt"] {
        let ask = Ask { epoch: 1, number: 1, order: AgentOrder::Check { plan: plan(folder) } };
        let (answer, effect) = agent().ask(ask, &FREE);
        assert_eq!(effect, None, "{folder}");
        refusal(answer);
    }
    let ask = Ask { epoch: 1, number: 1, order: AgentOrder::Check { plan: plan("/mnt/db1/new") } };
    assert_eq!(agent().ask(ask, &FREE), (Some(AgentAnswer::Accepted), None));
}

#[test]
fn an_order_that_comes_twice_is_done_once() {
    let mut agent = agent();
    let (first, effect) = agent.ask(start(1, "r1"), &FREE);
    assert!(matches!(effect, Some(AgentEffect::Run { .. })));
    assert_eq!(agent.ask(start(1, "r1"), &FREE), (first, None));
    let older = Ask { epoch: 1, number: 0, order: AgentOrder::Stop { run: run("r1") } };
    assert_eq!(agent.ask(older, &FREE), (None, None));
    assert_eq!(agent.ignored(), 1);
}

#[test]
fn one_job_at_a_time_and_only_what_it_waits_for() {
    let mut agent = agent();
    assert_eq!(agent.ask(start(1, "r1"), &FREE).0, Some(AgentAnswer::Accepted));
    assert!(refusal(agent.ask(start(2, "r2"), &FREE).0).contains("r1 is under way"));
    let measure = |number| {
        let order = AgentOrder::Measure { run: run("r1"), at_ns: 9 };
        Ask { epoch: 1, number, order }
    };
    assert!(refusal(agent.ask(measure(3), &FREE).0).contains("not waiting"));
    agent.child(ChildReport::Warm);
    let release = AgentEffect::Release { run: run("r1"), at_ns: 9 };
    assert_eq!(agent.ask(measure(4), &FREE), (Some(AgentAnswer::Accepted), Some(release)));
    agent.child(ChildReport::Ended { status: 1 });
    assert_eq!(agent.job().map(|job| job.step.clone()), Some(AgentStep::Ended { status: 1 }));
    assert_eq!(agent.ask(start(5, "r2"), &FREE).0, Some(AgentAnswer::Accepted));
}

#[test]
fn a_controller_that_was_replaced_is_not_obeyed() {
    let mut agent = agent();
    let describe = |epoch, number| Ask { epoch, number, order: AgentOrder::Describe };
    assert!(agent.ask(describe(7, 1), &FREE).0.is_some());
    assert_eq!(agent.ask(describe(6, 2), &FREE), (None, None));
    assert!(agent.ask(describe(8, 1), &FREE).0.is_some());
}

#[test]
fn what_hinders_a_plan_is_the_answer() {
    let host = Host { hindrance: Some("3 GiB are free and 8 GiB are needed".to_owned()) };
    assert!(refusal(agent().ask(start(1, "r1"), &host).0).contains("8 GiB are needed"));
}

fn duty(after_ns: u64, act: DutyAct) -> Duty {
    Duty { after_ns, act }
}

/// An agent whose run with `duties` measures from the instant 100.
fn measuring(duties: Vec<Duty>) -> Agent {
    let mut agent = agent();
    let plan = plan("/mnt/db1/new");
    let order = AgentOrder::Start { run: run("r1"), plan, duties };
    let started = agent.ask(Ask { epoch: 1, number: 1, order }, &FREE);
    assert_eq!(started.0, Some(AgentAnswer::Accepted));
    agent.child(ChildReport::Warm);
    assert_eq!(agent.due(Nanos(u64::MAX)), Vec::new(), "nothing is due before the common instant");
    let order = AgentOrder::Measure { run: run("r1"), at_ns: 100 };
    agent.ask(Ask { epoch: 1, number: 2, order }, &FREE);
    agent.child(ChildReport::Measuring);
    agent
}

#[test]
fn a_host_dies_and_returns_at_its_instants_without_another_order() {
    let mut agent = measuring(vec![duty(30, DutyAct::Die), duty(50, DutyAct::Return)]);
    assert_eq!(agent.due(Nanos(129)), Vec::new());
    assert_eq!(agent.due(Nanos(130)), [AgentEffect::Kill { run: run("r1") }]);
    // The run that was killed reports its end like any other.
    agent.child(ChildReport::Ended { status: 2 });
    assert_eq!(agent.job().map(|job| job.step.clone()), Some(AgentStep::Down));
    assert!(refusal(agent.ask(start(3, "r2"), &FREE).0).contains("r1 is under way"));
    assert_eq!(agent.due(Nanos(150)), [AgentEffect::Resume { run: run("r1") }]);
    assert_eq!(agent.job().map(|job| job.step.clone()), Some(AgentStep::Measuring));
    agent.child(ChildReport::Ended { status: 0 });
    assert_eq!(agent.job().map(|job| job.step.clone()), Some(AgentStep::Ended { status: 0 }));
}

#[test]
fn an_agent_that_was_down_for_good_takes_the_next_run() {
    let mut agent = measuring(vec![duty(30, DutyAct::Die)]);
    assert_eq!(agent.due(Nanos(130)).len(), 1);
    assert_eq!(agent.ask(start(3, "r2"), &FREE).0, Some(AgentAnswer::Accepted));
    assert_eq!(agent.due(Nanos(u64::MAX)), Vec::new(), "the duties went with the run");
}

#[test]
fn an_agent_that_is_started_anew_does_what_is_left() {
    let first = measuring(vec![duty(30, DutyAct::Die)]);
    let text = serde_json::to_string(&first.kept()).expect("plain data");
    let kept = serde_json::from_str(&text).expect("what was written");
    let id = "a1".to_owned().try_into().expect("a sound id");
    let mut next = Agent::new(id, Nanos(9), HostFacts::default(), Vec::new(), kept);
    assert_eq!(next.due(Nanos(130)), [AgentEffect::Kill { run: run("r1") }]);
}

#[test]
fn a_run_that_is_stopped_has_no_duties_left() {
    let mut agent = measuring(vec![duty(30, DutyAct::Die)]);
    let order = AgentOrder::Stop { run: run("r1") };
    agent.ask(Ask { epoch: 1, number: 3, order }, &FREE);
    assert_eq!(agent.due(Nanos(u64::MAX)), Vec::new());
}

#[test]
fn copies_are_made_beside_the_run_and_reported_with_the_heartbeat() {
    let (side, bytes_per_second) = (CopySide::Source, 7);
    let copy = DutyAct::Copy { database: 1, side, bytes_per_second };
    let load = DutyAct::Load { database: 1, percent: 50 };
    let mut agent = measuring(vec![duty(10, load), duty(20, copy)]);
    let effect = AgentEffect::Copy { run: run("r1"), database: 1, side, bytes_per_second };
    assert_eq!(agent.due(Nanos(120)), [effect]);
    let report = CopyReport { database: 1, side, bytes: 9, elapsed_ns: 3, fault: None };
    agent.copied(report.clone());
    assert_eq!(agent.beat().job.expect("a job").copies, [report]);
}
