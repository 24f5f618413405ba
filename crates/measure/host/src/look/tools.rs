//! Queries vendors' RAID controller tools, if installed, for the settings.

use std::io::{self, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use inspection::controller::{Controller, UnreadLine, not_understood, read};
use record::StorageFinding;

use crate::documents::decode;

/// A tool that does not answer within this time is ignored.
const PATIENCE: Duration = Duration::from_secs(20);

/// Limit on output: a controller with 240 disks prints a tenth of it.
const LONGEST_OUTPUT: u64 = 16 << 20;

/// A tool: its names, its usual paths, and its queries.
struct Inquiry {
    programs: &'static [&'static str],
    questions: &'static [&'static [&'static str]],
}

const INQUIRIES: [Inquiry; 6] = [
    Inquiry {
        programs: &["storcli64", "storcli", "/opt/MegaRAID/storcli/storcli64"],
        questions: STORCLI,
    },
    Inquiry {
        programs: &["perccli64", "perccli", "/opt/MegaRAID/perccli/perccli64"],
        questions: STORCLI,
    },
    Inquiry { programs: &["storcli2", "/opt/MegaRAID/storcli2/storcli2"], questions: STORCLI },
    Inquiry { programs: &["perccli2", "/opt/MegaRAID/perccli2/perccli2"], questions: STORCLI },
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

/// Answers of the installed tools.
#[derive(Default)]
pub(super) struct Answers {
    pub controllers: Vec<Controller>,
    /// Installed tools that failed, each with its error.
    pub silent: Vec<(String, String)>,
    /// Findings about lines that could not be parsed.
    pub unread: Vec<StorageFinding>,
}

/// Asks every installed tool.
pub(super) fn ask() -> Answers {
    let mut answers = Answers::default();
    for tool in &INQUIRIES {
        if let Some((program, first)) = installed(tool) {
            let (mut told, mut why, mut unread) = (Vec::new(), None, Vec::<UnreadLine>::new());
            for text in texts(tool, program, first) {
                match text.and_then(|text| read(&text).map_err(|error| error.to_string())) {
                    Ok(output) => {
                        told.extend(output.controllers);
                        unread.extend(output.unread);
                    }
                    Err(words) => why = why.or(Some(words)),
                }
            }
            if told.is_empty() {
                answers.silent.push((program.to_owned(), why.unwrap_or_default()));
            }
            answers.controllers.extend(told);
            answers.unread.extend(not_understood(program, &unread));
        }
    }
    answers
}

/// Limit on the controllers of a machine.
const MOST_CONTROLLERS: u32 = 16;

/// The outputs of a tool for all of its queries, each after its command: arcconf does not name the
/// controller in its output.
fn texts(tool: &Inquiry, program: &str, first: io::Result<String>) -> Vec<Result<String, String>> {
    let is_silent = matches!(&first, Err(error) if error.kind() == io::ErrorKind::TimedOut);
    let found = first.as_ref().map_or(1, |text| controllers_found(text));
    let mut all = vec![shown(program, tool.questions[0], first)];
    for words in tool.questions[1..].iter().filter(|_| !is_silent) {
        all.push(shown(program, words, output(program, words)));
    }
    for number in 2..=found {
        let words = ["getconfig", &number.to_string()];
        all.push(shown(program, &words, output(program, &words)));
    }
    all
}

/// The answer with its command above it.
fn shown(program: &str, words: &[&str], answer: io::Result<String>) -> Result<String, String> {
    let command = format!("$ {program} {}\n", words.join(" "));
    answer.map(|text| command + &text).map_err(|error| error.to_string())
}

/// Number of controllers, which arcconf prints in the output of each.
fn controllers_found(text: &str) -> u32 {
    let told = text.lines().find_map(|line| line.trim().strip_prefix("Controllers found:"));
    let found = told.and_then(|number| number.trim().parse().ok()).unwrap_or(1);
    found.min(MOST_CONTROLLERS)
}

/// The first installed program of a tool, and its answer to the first question.
fn installed(tool: &Inquiry) -> Option<(&'static str, io::Result<String>)> {
    tool.programs.iter().find_map(|program| match output(program, tool.questions[0]) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        answer => Some((*program, answer)),
    })
}

/// Returns a program's output. A program that does not exit is killed.
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
    // Ends when the program's exit closes the pipe.
    thread::Builder::new().name("tool output".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(LONGEST_OUTPUT).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    })?;
    let bytes = receiver.recv_timeout(PATIENCE).map_err(|_| {
        let seconds = PATIENCE.as_secs();
        io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {seconds} s"))
    })??;
    Ok(decode(&bytes).text.into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::ErrorKind;

    use super::{controllers_found, output};

    #[test]
    fn every_controller_that_was_found_is_asked_for() {
        assert_eq!(controllers_found("Controllers found: 3\n---\n"), 3);
        assert_eq!(controllers_found("Controllers found: 4000000\n"), 16);
        assert_eq!([controllers_found(""), controllers_found("Controllers found: x")], [1, 1]);
    }

    #[test]
    fn what_a_program_prints_is_its_answer_and_a_missing_one_has_none() {
        assert_eq!(output("echo", &["a", "b"]).unwrap(), "a b\n");
        assert_eq!(output("no-such-program", &[]).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
