//! The command line: a table of verbs and what their outcomes mean to the shell.
//!
//! Exit status 0: pass. 1: fail, the storage or the files are at fault. 2: could not measure.

mod allowance;
mod cmd;
mod console;
mod crew;
mod documents;
mod error;
mod fill;
mod flags;
mod locks;
mod look;
mod measure;
mod opened;
mod pages;
mod patient;
mod scan;
mod shell;
mod signals;
mod simulate;
mod sweep;
mod system;
mod term;
mod wire;

use std::process::ExitCode;

use clap::Parser as _;

use console::Console;
use error::CommandError;
use flags::{Arguments, Verb};

#[global_allocator]
static MEMORY: device_os::BufferMemory = device_os::BufferMemory::new();

/// What a command found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is as it should be.
    Pass,
    /// The storage or a file is at fault.
    Fail,
    /// Nothing was proved, and why has been said already.
    CannotJudge,
}

impl Outcome {
    /// What a verdict means to the shell.
    const fn of(verdict: &verdict::Verdict) -> Self {
        Self::of_ruling(verdict.outcome)
    }

    /// What a ruling means to the shell.
    const fn of_ruling(ruling: verdict::Ruling) -> Self {
        match ruling.exit_code() {
            0 => Self::Pass,
            1 => Self::Fail,
            _ => Self::CannotJudge,
        }
    }
}

fn main() -> ExitCode {
    console::explain_panics();
    let arguments = Arguments::parse();
    let mut console = Console::new(arguments.quiet);
    let result = dispatch(arguments.verb, &mut console).and_then(|outcome| {
        console.flush()?;
        Ok(outcome)
    });
    match result {
        Ok(Outcome::Pass) | Err(CommandError::BrokenPipe) => ExitCode::SUCCESS,
        Ok(Outcome::Fail) => ExitCode::from(1),
        Ok(Outcome::CannotJudge) => ExitCode::from(2),
        Err(CommandError::Sentence(sentence)) => {
            console::complain(&sentence);
            ExitCode::from(2)
        }
        Err(CommandError::Damage(sentence)) => {
            console::complain(&sentence);
            ExitCode::from(1)
        }
    }
}

fn dispatch(verb: Verb, console: &mut Console) -> Result<Outcome, CommandError> {
    match verb {
        Verb::Quick(flags) => cmd::quick::run(&flags, console),
        Verb::Prepare(flags) => cmd::prepare::run(&flags, console),
        Verb::Run(flags) => cmd::run::run(&flags, console),
        Verb::Line(flags) => cmd::line::run(&flags, console),
        Verb::Simulate(flags) => cmd::simulate::run(&flags, console),
        Verb::Report(flags) => cmd::report::run(&flags, console),
        Verb::Compare(flags) => cmd::compare::run(&flags, console),
        Verb::List(flags) => cmd::list::run(&flags, console),
        Verb::Serve(flags) => cmd::serve::run(&flags, console),
        Verb::Check(flags) => cmd::check::run(&flags, console),
        Verb::Header(flags) => cmd::header::run(&flags, console),
        Verb::Schema(flags) => cmd::schema::run(&flags, console),
        Verb::Recover(flags) => cmd::recover::run(&flags, console),
        Verb::Verify(flags) => cmd::verify::run(&flags, console),
        Verb::Space(flags) => cmd::space::run(&flags, console),
        Verb::Dump(flags) => cmd::dump::run(&flags, console),
        Verb::Export(flags) => cmd::export::run(&flags, console),
        Verb::Selftest(flags) => cmd::selftest::run(&flags, console),
        Verb::Inspect(flags) => cmd::inspect::run(&flags, console),
        Verb::Plan(flags) => cmd::plan::run(&flags, console),
        Verb::Size(flags) => cmd::size::run(&flags, console),
        Verb::Profile(flags) => cmd::profile::run(&flags, console),
        Verb::Import(flags) => cmd::import::run(&flags, console),
        Verb::Builds(flags) => cmd::builds::run(&flags, console),
        Verb::Limits(flags) => cmd::limits::run(&flags, console),
        Verb::Scan(flags) => cmd::scan::run(&flags, console),
        Verb::Completions(flags) => cmd::completions::run(&flags, console),
    }
}

#[cfg(test)]
mod tests {
    use device::Buffer;

    #[test]
    fn buffers_are_cut_from_huge_pages() {
        // Pieces of a power of two lie at multiples of their size, the system's memory by chance.
        let pages: Vec<Buffer> = (0..16).map(|_| Buffer::zeroed(32 << 10)).collect();
        let are_pieces = pages.iter().all(|page| page.as_ptr().addr() % (32 << 10) == 0);
        assert!(are_pieces, "the program's allocator is another");
    }
}
