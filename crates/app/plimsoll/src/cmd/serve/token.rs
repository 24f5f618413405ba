//! The tokens of `serve`: given in a file or the environment, or kept in this user's cache folder,
//! so that bookmarks and scrapers work after a restart.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use host::system;
use serve::Token;

use super::place;
use crate::cmd::serve::flags::ServeFlags;
use console::documents;
use console::error::CommandError;

/// Variable with the token that permits changes.
const TOKEN: &str = "PLIMSOLL_TOKEN";

/// Variable with the token that reads metrics only.
const METRICS_TOKEN: &str = "PLIMSOLL_METRICS_TOKEN";

/// The token that permits changes: from `--token-file`, the environment, or the one created when
/// this folder was first served.
pub(super) fn of_changes(flags: &ServeFlags) -> Result<Token, CommandError> {
    if let Some(file) = &flags.token_file {
        return kept_in(file);
    }
    if let Some(token) = of_environment(TOKEN)? {
        return Ok(token);
    }
    // If the token cannot be stored, it is only valid until the server exits.
    let file = place::of_token(&flags.folder).map(|file| kept_in(&file));
    file.unwrap_or_else(|| Token::random().map_err(|error| no_random(&error)))
}

/// The token that reads metrics only; `None` unless one is given.
pub(super) fn of_metrics(flags: &ServeFlags) -> Result<Option<Token>, CommandError> {
    match &flags.metrics_token_file {
        Some(file) => kept_in(file).map(Some),
        None => of_environment(METRICS_TOKEN),
    }
}

fn of_environment(variable: &str) -> Result<Option<Token>, CommandError> {
    let Some(text) = env::var_os(variable) else {
        return Ok(None);
    };
    let token = text.to_str().and_then(Token::kept);
    token.map(Some).ok_or_else(|| CommandError::new(format!("{variable}: {BAD_TOKEN}")))
}

const BAD_TOKEN: &str =
    "is no token; give 16 to 256 letters, digits, - and _, as `openssl rand -hex 16` prints them";

/// The token in a file that only its owner reads, created if missing.
fn kept_in(file: &Path) -> Result<Token, CommandError> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(file),
        Err(error) => Err(CommandError::file(file, "read the token", &error)),
        Ok(_) if !system::is_private(file).is_ok_and(|is_private| is_private) => {
            Err(CommandError::new(format!(
                "{0}: others can read this token; run chmod 600 {0}, or name another file",
                file.display()
            )))
        }
        Ok(text) => Token::kept(&text)
            .ok_or_else(|| CommandError::new(format!("{}: {BAD_TOKEN}", file.display()))),
    }
}

fn make(file: &Path) -> Result<Token, CommandError> {
    let token = Token::random().map_err(|error| no_random(&error))?;
    documents::make_parents(file)?;
    let line = format!("{}\n", token.digits());
    let written = system::create_private(file).and_then(|mut new| new.write_all(line.as_bytes()));
    written.map_err(|error| CommandError::file(file, "write the token", &error))?;
    Ok(token)
}

fn no_random(error: &io::Error) -> CommandError {
    CommandError::new(format!("no random numbers for a token: {error}; set {TOKEN}"))
}
