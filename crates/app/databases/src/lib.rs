//! The verbs that people use on database files and logs, ours and those of other programs.

mod check;
mod dump;
mod export;
mod genuine_log;
mod header;
mod opened;
mod recover;
mod schema;
mod space;
pub mod verify;

use check::flags::CheckFlags;
use clap::Subcommand;
use console::args::FileFlags;
use console::error::CommandError;
use console::{Console, Outcome};
use dump::flags::DumpFlags;
use export::flags::ExportFlags;
use recover::flags::RecoverFlags;
use schema::flags::SchemaFlags;
use verify::flags::VerifyFlags;

/// What to do with a database file or a log.
#[derive(Debug, Subcommand)]
pub enum DatabaseVerb {
    /// Replay the log of a database that was not closed properly
    Recover(RecoverFlags),
    /// Check the integrity of a database: trees, space, indexes; never writes
    Verify(VerifyFlags),
    /// Verify the checksum of every page of database files; never writes
    Check(CheckFlags),
    /// Print the header of a database file and the state of its two copies; or that of a log file,
    /// a checkpoint file or a flush map
    Header(FileFlags),
    /// Print the tables of a database with columns and indexes; or the JSON Schema of plan,
    /// deployment, report, journal or events
    Schema(SchemaFlags),
    /// Show the pages of a database by tree, owned and free
    Space(FileFlags),
    /// Print one page of a database, field by field and node by node
    Dump(DumpFlags),
    /// Print the rows of a table, or write all tables to files; without either, list the tables
    ///
    /// Only the pages of these rows are read: exit status 0 says that the rows are whole. `check`
    /// reads every page.
    Export(ExportFlags),
}

/// Runs a command on a database file or a log.
///
/// # Errors
///
/// The input is invalid, or something that the command needs is missing.
pub fn run(verb: &DatabaseVerb, console: &mut Console) -> Result<Outcome, CommandError> {
    match verb {
        DatabaseVerb::Recover(flags) => recover::run(flags, console),
        DatabaseVerb::Verify(flags) => verify::run(flags, console),
        DatabaseVerb::Check(flags) => check::run(flags, console),
        DatabaseVerb::Header(flags) => header::run(flags, console),
        DatabaseVerb::Schema(flags) => schema::run(flags, console),
        DatabaseVerb::Space(flags) => space::run(flags, console),
        DatabaseVerb::Dump(flags) => dump::run(flags, console),
        DatabaseVerb::Export(flags) => export::run(flags, console),
    }
}
