//! A run ordered without a command line: the events an observer receives, and how a stop ends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use host::fill::fill;
use host::{HostEvent, HostObserver, Measured, RunOrder, StopFlag};
use plan::Plan;
use record::{Edge, Event, Phase};

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Fills a small database in `folder` and runs a load on it.
fn measured(folder: &Path, stop: &StopFlag, observer: &HostObserver) -> Measured {
    let place = folder.display().to_string();
    let text = format!(
        "name = \"door\"\n[databases]\nfolders = [{place:?}]\nsize = \"16MiB\"\n\
         [workload]\nthreads = 2\n\
         [test]\nduration = \"2s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n"
    );
    let plan = Plan::parse("plan.toml", &text).expect("a sound plan");
    fill(&plan, &StopFlag::default(), observer).expect("a filled database");
    let order = RunOrder {
        plan: &plan,
        command: "test".to_owned(),
        options: Vec::new(),
        tags: &[],
        set: &[],
        folder: &folder.join("out"),
        resumed: None,
        acknowledge: None,
        is_held: false,
    };
    host::run(order, stop, observer).expect("a run")
}

#[test]
fn an_observer_hears_a_run_from_its_begin_to_its_end() {
    let folder = folder("heard");
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = Arc::clone(&heard);
    let observer = HostObserver::new(move |event| {
        let note = match event {
            HostEvent::Bytes { work, done, total } if done == total => work.to_owned(),
            HostEvent::Begun(outline) => format!("begun for {} ns", outline.settings.measure_ns),
            HostEvent::Event(Event::Phase(mark)) if mark.edge == Edge::Begin => {
                mark.phase.name().to_owned()
            }
            HostEvent::Event(Event::Finished(_)) => "finished".to_owned(),
            HostEvent::Ended => "ended".to_owned(),
            _ => return,
        };
        let mut notes = notes.lock().expect("no panic");
        if notes.last() != Some(&note) {
            notes.push(note);
        }
    });
    let measured = measured(&folder, &StopFlag::default(), &observer);
    let heard = heard.lock().expect("no panic").join(", ");
    assert!(heard.starts_with("filling, ended, begun for 2000000000 ns, "), "{heard}");
    assert!(heard.ends_with("ended, finished"), "{heard}");
    assert!(heard.contains(Phase::Measure.name()), "{heard}");
    assert!(measured.record.finished.is_some_and(|end| !end.interrupted));
    for report in ["record.jsonl", "report.html", "report.json", "report.txt"] {
        assert!(folder.join("out").join(report).exists(), "{report}");
    }
}

#[test]
fn a_stop_that_an_observer_asks_for_ends_the_run() {
    let folder = folder("stopped");
    let stop = StopFlag::default();
    let asked = stop.clone();
    let observer = HostObserver::new(move |event| {
        if let HostEvent::Event(Event::Phase(mark)) = event
            && (mark.phase, mark.edge) == (Phase::Measure, Edge::Begin)
        {
            asked.set();
        }
    });
    let measured = measured(&folder, &stop, &observer);
    let end = measured.record.finished.expect("an end");
    assert!(end.interrupted);
    assert_eq!(end.reason.as_deref(), Some("stopped by the user"));
}
