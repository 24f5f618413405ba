//! The control socket: one line of question, then an answer up to the end of the stream. Also
//! serves metrics over HTTP.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use host::crew;

use super::mailbox::{DaemonMessage, Slot};
use console::error::CommandError;

/// How long a client may take to ask.
const PATIENCE: Duration = Duration::from_secs(5);

/// Length limit of a question in bytes.
const LONGEST_QUESTION: u64 = 4096;

/// Path of the control socket of the cache on `flash`: next to a file, in /run for a device.
pub(crate) fn path_of(flash: &Path) -> PathBuf {
    // A device has several names, which must all lead to the same socket.
    let found = std::fs::canonicalize(flash);
    let flash = found.as_deref().unwrap_or(flash);
    if flash.starts_with("/dev") {
        let name = flash.strip_prefix("/dev").unwrap_or(flash).display().to_string();
        return PathBuf::from(format!("/run/plimsoll-cache-{}.sock", name.replace('/', "-")));
    }
    let mut path = flash.as_os_str().to_owned();
    path.push(".sock");
    PathBuf::from(path)
}

/// Answers questions on threads.
pub(super) fn start(listener: UnixListener, slot: Slot) -> Result<(), CommandError> {
    crew::start_thread("control", move || {
        for stream in listener.incoming().flatten() {
            let slot = slot.clone();
            // Without a thread, the client gets no answer.
            let _ = crew::start_thread("question", move || answer(&stream, &slot));
        }
    })?;
    Ok(())
}

fn answer(stream: &UnixStream, slot: &Slot) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let mut question = String::new();
    let read = BufReader::new(stream.take(LONGEST_QUESTION)).read_line(&mut question);
    if let (Ok(_), Some(text)) = (read, asked(slot, question.trim())) {
        let _ = (&mut &*stream).write_all(text.as_bytes());
    }
}

/// Returns the executor's answer; `None` once it has stopped.
fn asked(slot: &Slot, question: &str) -> Option<String> {
    let (answer, answered) = mpsc::channel();
    slot.post(DaemonMessage::Question(question.to_owned(), answer));
    answered.recv().ok()
}

/// Answers every request with metrics, on a thread.
pub(super) fn start_metrics(listener: TcpListener, slot: Slot) -> Result<(), CommandError> {
    crew::start_thread("metrics", move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_read_timeout(Some(PATIENCE));
            let mut head = String::new();
            let mut lines = BufReader::new((&stream).take(LONGEST_QUESTION));
            while lines.read_line(&mut head).is_ok_and(|bytes| bytes > 2) {}
            let Some(text) = asked(&slot, "metrics") else {
                return;
            };
            let _ = write!(
                &stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: \
                 {}\r\nConnection: close\r\n\r\n{text}",
                text.len()
            );
        }
    })?;
    Ok(())
}

/// Asks the server at the socket `control`; `None` if there is no server.
pub(crate) fn ask(control: &Path, question: &str) -> Result<Option<String>, CommandError> {
    let Ok(stream) = UnixStream::connect(control) else {
        return Ok(None);
    };
    exchange(stream, question).map(Some).map_err(|error| {
        CommandError::new(format!(
            "{}: the server does not answer: {error}; look at its messages",
            control.display()
        ))
    })
}

/// Sends a question and reads the answer.
fn exchange(mut stream: UnixStream, question: &str) -> std::io::Result<String> {
    writeln!(stream, "{question}")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::path_of;

    #[test]
    fn the_control_socket_follows_from_the_flash() {
        for (flash, socket) in [
            ("/dev/null", "/run/plimsoll-cache-null.sock"),
            ("/dev/disk/no-id/a", "/run/plimsoll-cache-disk-no-id-a.sock"),
            ("flash.img", "flash.img.sock"),
        ] {
            assert_eq!(path_of(Path::new(flash)), Path::new(socket));
        }
    }
}
