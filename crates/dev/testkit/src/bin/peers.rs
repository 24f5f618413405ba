//! `peers set-up FOLDER SAMPLES` creates the Python readers' environment and fetches sample
//! databases and outputs of RAID controllers' tools; `peers read FILE TABLE` prints what every
//! reader sees of a table and fails if they differ.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use testkit::peers::{LongValues, PythonReader, PythonReaders, read_with_libesedb, set_up};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.as_slice() {
        [verb, folder, samples] if verb == "set-up" => set_up(Path::new(folder))
            .and_then(|readers| {
                readers.fetch_samples(Path::new(samples))?;
                readers.fetch_controllers(&Path::new(samples).join("controllers"))
            })
            .map(|()| Vec::new())
            .map_err(Into::into),
        [verb, file, table] if verb == "read" => read(Path::new(file), table),
        _ => Err("usage: peers set-up FOLDER SAMPLES | peers read FILE TABLE".into()),
    };
    match done {
        Ok(differences) if differences.is_empty() => ExitCode::SUCCESS,
        Ok(differences) => {
            say(&differences.join("\n"));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(2)
        }
    }
}

fn read(file: &Path, table: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut digests = vec![read_with_libesedb(file, table, LongValues::Follow)?];
    if let Some(python) = PythonReaders::from_environment("peers read") {
        for reader in [PythonReader::Dissect, PythonReader::Impacket] {
            digests.push(python.read(reader, file, table)?);
        }
    }
    for digest in &digests {
        say(&format!("{digest:#?}"));
    }
    Ok(digests.iter().skip(1).flat_map(|digest| digests[0].differences(digest)).collect())
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
