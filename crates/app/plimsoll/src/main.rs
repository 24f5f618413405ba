//! The command line: a table of verbs and the exit statuses of their outcomes.
//!
//! Exit status 0: pass. 1: fail, the storage or the files are at fault. 2: could not measure. 64:
//! wrong usage.

mod cmd;
mod flags;

use std::process::ExitCode;

use clap::error::ErrorKind;

use console::error::{BAD_INPUT, CommandError, WRONG_USAGE};
use console::{Console, Outcome};
use flags::{Arguments, Verb};

#[global_allocator]
static MEMORY: device_os::BufferMemory = device_os::BufferMemory::new();

fn main() -> ExitCode {
    console::explain_panics();
    // From now on a write beyond the file size limit fails instead of ending the program.
    let _ = device_os::raise_file_size();
    console::term::prompt_for_secrets();
    if flags::ask_for_json() {
        console::speak_to_programs();
    }
    if let Some(status) = introduce(&mut Console::new(false)) {
        return ExitCode::from(status);
    }
    let arguments = match Arguments::read(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let mut console = Console::new(arguments.quiet);
    let notify = arguments.verb.notify().map(str::to_owned);
    let result = dispatch(arguments.verb, &mut console).and_then(|outcome| {
        console.flush()?;
        Ok(outcome)
    });
    let (status, sentence) = match &result {
        Ok(outcome) => (outcome.exit_status(), None),
        Err(error) => error.told().map_or((0, None), |(text, status)| (status, Some(text))),
    };
    if let Some(sentence) = sentence {
        console::fail(sentence, status);
    }
    if let Some(command) = notify {
        console::notify::notify(&command, status, console.concluded(), sentence);
    }
    ExitCode::from(status)
}

/// Answers a command line without a command: empty, or a help topic. Returns the exit status.
fn introduce(console: &mut Console) -> Option<u8> {
    let (text, status) = if std::env::args_os().len() <= 1 {
        (flags::beginning(&flags::command()), WRONG_USAGE)
    } else {
        (cmd::topics::asked_for(std::env::args_os().skip(1))?, 0)
    };
    let printed = console.answer_text(&text).and_then(|()| console.flush());
    Some(printed.map_or(BAD_INPUT, |()| status))
}

/// Prints the message of the command-line parser: help, the version, or an error.
fn refuse(error: &clap::Error) -> ExitCode {
    let status = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => 0,
        _ => WRONG_USAGE,
    };
    // What a wrong value should be is a sentence; the usage of the verb is no help.
    let is_value = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    if is_value || console::is_for_programs() && status != 0 {
        console::fail(&sentence(error), status);
    } else {
        // If standard error is closed too, there is nowhere to report it.
        let _ = error.print();
    }
    ExitCode::from(status)
}

/// The parser's error, without its remark on the help.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let (first, _) = text.split_once("\n\n").unwrap_or((&text, ""));
    first.trim_start_matches("error: ").split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn dispatch(verb: Verb, console: &mut Console) -> Result<Outcome, CommandError> {
    match verb {
        Verb::Quick(flags) => cmd::quick::run(&flags, console),
        Verb::Prepare(flags) => cmd::prepare::run(&flags, console),
        Verb::Run(flags) => cmd::run::run(&flags, console),
        Verb::Line(flags) => cmd::line::run(&flags, console),
        Verb::Report(flags) => cmd::report::run(&flags, console),
        Verb::Compare(flags) => cmd::compare::run(&flags, console),
        Verb::List(flags) => cmd::list::run(&flags, console),
        Verb::Watch(flags) => cmd::watch::run(&flags, console),
        Verb::Serve(flags) => cmd::serve::run(&flags, console),
        Verb::Fleet(flags) => fleets::run(&flags, console),
        Verb::Agent(flags) => cmd::agent::run(&flags, console),
        Verb::Selftest(flags) => cmd::selftest::run(&flags, console),
        Verb::Builds(flags) => cmd::builds::run(&flags, console),
        Verb::Limits(flags) => cmd::limits::run(&flags, console),
        Verb::Scan(flags) => cmd::scan::run(&flags, console),
        Verb::Doctor(flags) => cmd::doctor::run(&flags, console),
        Verb::Logs(flags) => cmd::logs::run(&flags, console),
        Verb::Databases(verb) => databases::run(&verb, console),
        Verb::Designs(verb) => designs::run(&verb, console),
        Verb::Volumes(verb) => volumes::run(&verb, console),
        Verb::Completions(flags) => cmd::completions::run(&flags, console),
        Verb::Man(flags) => cmd::man::run(&flags, console),
    }
}

#[cfg(test)]
mod tests {
    use device::Buffer;

    #[test]
    fn buffers_are_cut_from_huge_pages() {
        // Power-of-two pieces are aligned to their size; the system allocator's only by chance.
        let pages: Vec<Buffer> = (0..16).map(|_| Buffer::zeroed(32 << 10)).collect();
        let are_pieces = pages.iter().all(|page| page.as_ptr().addr() % (32 << 10) == 0);
        assert!(are_pieces, "the program's allocator is another");
    }
}
