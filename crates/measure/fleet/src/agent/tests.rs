use std::path::{Path, PathBuf};

use plan::Plan;
use units::Nanos;

use super::{Agent, AgentEffect, AgentSurroundings, ChildReport};
use crate::{AgentAnswer, AgentOrder, AgentStep, Ask, HostFacts, RunId};

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
        order: AgentOrder::Start { run: run(name), plan: plan("/mnt/db1/new") },
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
