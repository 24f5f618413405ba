//! The first access to folders and files, which the storage may never answer: it runs on a separate
//! thread, so that the program can end without it.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use trial::patience::{self, Patience};

use crate::crew;
use crate::error::HostError;
use crate::stop::StopFlag;

/// Interval between checks of Ctrl-C and the time.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `look` on the databases of `plan`. An error if it has not returned after the plan's time
/// for giving up, or soon after Ctrl-C.
pub(crate) fn first_look<T: Send + 'static>(
    plan: &Plan,
    stop: &StopFlag,
    look: impl FnOnce(&Plan) -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    let (sender, receiver) = mpsc::channel();
    let for_thread = plan.clone();
    // The channel only closes when the program is exiting.
    crew::start_thread("first look", move || {
        crew::panic_where_asked();
        _ = sender.send(look(&for_thread));
    })?;
    let clock = OsClock::new();
    let began = clock.now();
    let mut patience = Patience::new(began);
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Disconnected) => return Err(crew::panicked()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = clock.now();
        let limit = patience::limit(plan.test.give_up, stop.is_set());
        if patience.look(now, limit).is_some_and(|moment| began <= moment) {
            return Err(no_answer(plan, now.since(began).as_secs_f64()));
        }
    }
}

fn no_answer(plan: &Plan, seconds: f64) -> HostError {
    let mut folders: Vec<String> = Vec::new();
    for database in &plan.databases {
        for folder in [&database.folder, &database.log_folder] {
            let folder = Path::new(folder).display().to_string();
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    HostError::new(format!(
        "{}: no answer to the first look at the folders and files for {seconds:.1} s; look at the \
         disk, its controller and cables, and the system log",
        folders.join(", ")
    ))
}
