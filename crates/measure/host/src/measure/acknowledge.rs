//! Reports every commit to another program, so that it can kill this one and inspect the remains.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use trial::commits::CommitStep;
use trial::{Coordinator, Sink, Stop};

use crate::error::HostError;

/// Opens the destination of the lines, such as `/dev/stdout`.
pub(super) fn open(path: &Path) -> Result<Arc<File>, HostError> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    let file = opened.map_err(|error| HostError::file(path, "write", &error))?;
    Ok(Arc::new(file))
}

/// Writes each line with one call, unbuffered: a reported line survives the end of this program. A
/// run ends if its listener is gone, since its promises could no longer be verified.
pub(super) fn sink(file: &Arc<File>, coordinator: &Arc<Coordinator>) -> Sink<CommitStep> {
    let (file, coordinator) = (Arc::clone(file), Arc::clone(coordinator));
    Rc::new(move |step| {
        let line = format!("{step}\n");
        if (&*file).write_all(line.as_bytes()).is_err() {
            coordinator.stop(Stop::Interrupted);
        }
    })
}
