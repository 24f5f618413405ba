//! Asks the tools of makers of RAID controllers, where they are installed, for what is set.

use std::io::{self, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use inspection::controller::{Controller, ControllerError, read};

/// A tool that is still silent by then is left alone.
const PATIENCE: Duration = Duration::from_secs(20);

/// No output is longer: a controller with 240 disks says a tenth of it.
const LONGEST_OUTPUT: u64 = 16 << 20;

/// A tool: its names and usual places, and what it is asked.
struct Inquiry {
    programs: &'static [&'static str],
    questions: &'static [&'static [&'static str]],
}

const INQUIRIES: [Inquiry; 4] = [
    Inquiry {
        programs: &["storcli64", "storcli", "/opt/MegaRAID/storcli/storcli64"],
        questions: STORCLI,
    },
    Inquiry {
        programs: &["perccli64", "perccli", "/opt/MegaRAID/perccli/perccli64"],
        questions: STORCLI,
    },
    Inquiry {
        programs: &["ssacli", "hpssacli", "/opt/smartstorageadmin/ssacli/bin/ssacli"],
        questions: &[&["ctrl", "all", "show", "config", "detail"]],
    },
    Inquiry { programs: &["arcconf", "/usr/Arcconf/arcconf"], questions: &[&["getconfig", "1"]] },
];

const STORCLI: &[&[&str]] = &[
    &["/call", "show", "all", "J"],
    &["/call/vall", "show", "all", "J"],
    &["/call/eall/sall", "show", "all", "J"],
];

/// What every installed tool tells, and the names and words of those that told nothing.
pub(super) fn ask() -> (Vec<Controller>, Vec<(String, String)>) {
    let (mut told, mut silent) = (Vec::new(), Vec::new());
    for tool in &INQUIRIES {
        let Some((program, first)) = installed(tool) else {
            continue;
        };
        let is_silent = matches!(&first, Err(error) if error.kind() == io::ErrorKind::TimedOut);
        let further = tool.questions[1..].iter().filter(|_| !is_silent);
        let answers = [first].into_iter().chain(further.map(|of| output(program, of)));
        let (mut controllers, mut why) = (Vec::new(), None);
        for answer in answers {
            match answer
                .map_err(|error| error.to_string())
                .and_then(|text| read(&text).map_err(|error: ControllerError| error.to_string()))
            {
                Ok(more) => controllers.extend(more),
                Err(words) => why = why.or(Some(words)),
            }
        }
        if controllers.is_empty() {
            silent.push((program.to_owned(), why.unwrap_or_default()));
        }
        told.extend(controllers);
    }
    (told, silent)
}

/// The first program of a tool that is here, and its answer to the first question.
fn installed(tool: &Inquiry) -> Option<(&'static str, io::Result<String>)> {
    tool.programs.iter().find_map(|program| match output(program, tool.questions[0]) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        answer => Some((*program, answer)),
    })
}

/// What a program prints. One that does not come to an end is ended.
fn output(program: &str, words: &[&str]) -> io::Result<String> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let printed = wait_for_output(&mut child);
    let _ = child.kill();
    child.wait()?;
    printed
}

fn wait_for_output(child: &mut Child) -> io::Result<String> {
    let pipe = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (sender, receiver) = mpsc::channel();
    // Ends with the pipe, which the program's end closes.
    thread::Builder::new().name("tool output".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(LONGEST_OUTPUT).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    })?;
    let bytes = receiver.recv_timeout(PATIENCE).map_err(|_| {
        let seconds = PATIENCE.as_secs();
        io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {seconds} s"))
    })??;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::ErrorKind;

    use super::output;

    #[test]
    fn what_a_program_prints_is_its_answer_and_a_missing_one_has_none() {
        assert_eq!(output("echo", &["a", "b"]).unwrap(), "a b\n");
        assert_eq!(output("no-such-program", &[]).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
