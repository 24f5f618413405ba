//! Fills the databases of a plan, runs it and prints its events: `run_a_plan PLAN FOLDER`.

#![expect(clippy::print_stdout, reason = "an example shows what it hears")]

use std::error::Error;
use std::path::Path;

use host::fill::fill;
use host::{HostEvent, HostObserver, RunOrder, StopFlag, documents};
use plan::Overrides;
use record::Event;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [plan, folder] = &words[..] else {
        return Err("give a plan and a folder for the run".into());
    };
    let plan = documents::read_plan(Path::new(plan), &Overrides::default())?;
    let observer = HostObserver::new(|event| match event {
        HostEvent::Remark(text) | HostEvent::Warning(text) => println!("{text}"),
        HostEvent::Event(Event::Phase(mark)) => println!("{}: {:?}", mark.phase.name(), mark.edge),
        HostEvent::Event(Event::Issue(issue)) => println!("{}", issue.text),
        _ => {}
    });
    // Another thread may keep a clone and set it: the run stops cleanly.
    let stop = StopFlag::default();
    fill(&plan, &stop, &observer)?;
    let order = RunOrder {
        plan: &plan,
        command: String::new(),
        options: Vec::new(),
        tags: &[],
        set: &[],
        folder: Path::new(folder),
        resumed: None,
        acknowledge: None,
        is_held: false,
    };
    let measured = host::run(order, &stop, &observer)?;
    println!("{}", report::summary(&measured.record, &measured.verdict));
    Ok(())
}
