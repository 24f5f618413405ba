//! The names that a release promises: a change of them is a change of the version.

use std::fs;
use std::io;
use std::path::Path;

const PROMISED: &str = include_str!("public-api.txt");

/// Every public item and field of the sources, file by file.
fn public_lines() -> io::Result<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files: io::Result<Vec<_>> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    let mut files = files?;
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file)?;
        let public = text.lines().map(str::trim).filter(|line| line.starts_with("pub "));
        lines.extend(public.map(|line| format!("{name}: {}\n", line.trim_end_matches(" {"))));
    }
    Ok(lines.concat())
}

#[test]
fn the_public_names_are_those_promised() -> io::Result<()> {
    let found = public_lines()?;
    assert_eq!(
        found, PROMISED,
        "names changed: raise the version, then replace tests/public-api.txt with:\n{found}"
    );
    Ok(())
}
