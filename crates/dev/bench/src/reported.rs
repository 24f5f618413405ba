//! Writes a synthetic run into a folder, and has the program itself report it.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use record::codec;
use record::synthetic::Synthetic;

use xtask::failure::Failure;
use xtask::shell;

/// Writes the journal, sealed like that of a real run, and returns its length in bytes.
pub(crate) fn journal(run: &Synthetic, folder: &Path) -> Result<u64, Failure> {
    let path = folder.join("record.jsonl");
    let failed = |error| Failure::new(format!("{}: {error}", path.display()));
    let mut file = BufWriter::new(File::create_new(&path).map_err(failed)?);
    let (mut bytes, mut written) = (0, Ok(()));
    let mut sealer = codec::Sealer::default();
    run.tell(&mut |event| {
        let line = sealer.line(&event);
        bytes += line.len() as u64;
        if written.is_ok() {
            written = file.write_all(line.as_bytes());
        }
    });
    written.and_then(|()| file.flush()).map_err(failed)?;
    Ok(bytes)
}

/// Runs the program's report on the run in `folder`, and returns the duration.
pub(crate) fn report(folder: &Path) -> Result<Duration, Failure> {
    let program = shell::root().join("target/release/plimsoll");
    let words =
        [program.as_path(), Path::new("report"), folder].map(|word| word.display().to_string());
    let started = Instant::now();
    shell::capture(&words.each_ref().map(String::as_str))?;
    Ok(started.elapsed())
}
