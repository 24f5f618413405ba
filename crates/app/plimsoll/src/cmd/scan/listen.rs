//! Listens on a live interface for a while.

use std::io;
use std::time::Instant;

use device_os::PacketSocket;
use units::Nanos;
use vrrp::{Unread, Watch};

use super::SeenGroups;
use console::Console;
use console::error::CommandError;
use console::signals;
use console::term::ProgressLine;

/// Maximum captured length of a frame.
const FRAME_BYTES: usize = 9216;

/// Captures all traffic on `interface` for `duration`, or until Ctrl-C.
pub(super) fn listen(
    interface: &str,
    duration: Nanos,
    console: &mut Console,
) -> Result<SeenGroups, CommandError> {
    let socket = PacketSocket::open(interface).map_err(|error| failure(interface, &error))?;
    let stop = signals::install("stopping with what was heard so far; again ends at once.")?;
    let mut progress = ProgressLine::new(format!("listening on {interface}"), console.is_quiet());
    let mut watch = Watch::default();
    let mut frame = Vec::with_capacity(FRAME_BYTES);
    let mut frames = 0;
    let started = Instant::now();
    watch.start(0);
    while nanoseconds_since(started) < duration.0 && !stop.is_set() {
        let is_received = socket.receive(&mut frame).map_err(|error| failure(interface, &error))?;
        if is_received {
            frames += 1;
            watch.see_ethernet(nanoseconds_since(started), &frame);
        }
        progress.text(&format!("{frames} frames"));
    }
    watch.end(nanoseconds_since(started));
    progress.clear();
    let lost = socket.lost().map_err(|error| failure(interface, &error))?;
    if lost > 0 {
        watch.miss(Unread::Dropped, lost);
    }
    Ok(SeenGroups { place: interface.to_owned(), survey: watch.survey(), frames })
}

fn nanoseconds_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn failure(interface: &str, error: &io::Error) -> CommandError {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "run as root, or with the capability CAP_NET_RAW, or read a capture instead"
        }
        _ => "name an Ethernet interface of this machine, or read a capture instead",
    };
    CommandError::new(format!("{interface}: cannot listen: {error}; {remedy}"))
}
