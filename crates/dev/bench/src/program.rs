//! The program itself compared with fio's sequential reads and writes: `check` and `prepare`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::fio;
use crate::pairs::{self, Pairs};
use xtask::failure::Failure;
use xtask::shell;

/// Databases, and bytes of each.
const DATABASES: usize = 2;
const DATABASE_BYTES: u64 = 2 << 30;

/// fio's arguments: block size and queue depth that suit a sequential stream.
const SEQUENTIAL: [&str; 2] = ["--bs=1M", "--iodepth=16"];

const MEBIBYTE: f64 = (1 << 20) as f64;

/// The files of one benchmark, in a scratch folder that is removed at the end.
struct ProgramScene {
    folder: PathBuf,
}

impl ProgramScene {
    fn new(directory: &Path) -> Result<Self, Failure> {
        let folder = directory.join("plimsoll-bench-program");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        let plan = folder.join("plan.toml");
        let text = format!(
            "[databases]\nfolders = [{:?}]\ncount = {DATABASES}\nsize = \"{}GiB\"\n",
            folder.display().to_string(),
            DATABASE_BYTES >> 30,
        );
        fs::write(&plan, text).map_err(|error| failed(&plan, &error))?;
        shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
        Ok(Self { folder })
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn databases(&self) -> Vec<String> {
        (1..=DATABASES).map(|number| self.path(&format!("Plimsoll{number:03}.edb"))).collect()
    }

    fn prepare(&self) -> Result<f64, Failure> {
        for entry in fs::read_dir(&self.folder).map_err(|error| failed(&self.folder, &error))? {
            let path = entry.map_err(|error| failed(&self.folder, &error))?.path();
            if !path.ends_with("plan.toml") {
                fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
            }
        }
        program(&["prepare", &self.path("plan.toml")])
    }

    fn check(&self) -> Result<f64, Failure> {
        let files = self.databases();
        let mut words = vec!["check"];
        words.extend(files.iter().map(String::as_str));
        program(&words)
    }
}

impl Drop for ProgramScene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Runs the program and returns MiB of database per second, from its start to its end.
fn program(words: &[&str]) -> Result<f64, Failure> {
    let program = shell::root().join("target/release/plimsoll").display().to_string();
    let started = Instant::now();
    shell::capture(&[&[program.as_str(), "--quiet"], words].concat())?;
    let bytes = DATABASE_BYTES * DATABASES as u64;
    Ok(bytes as f64 / MEBIBYTE / started.elapsed().as_secs_f64())
}

/// Runs fio on files of the same total size, as many as the databases; their names are separated by
/// colons.
fn peer(files: &[String], arguments: &[&str]) -> Result<f64, Failure> {
    let all = [&SEQUENTIAL[..], arguments].concat();
    let measured = fio::run(Path::new(&files.join(":")), &all)?;
    Ok(measured.bytes_per_second / MEBIBYTE)
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

/// `check` of two databases compared with sequential reads of the same files.
pub(crate) fn check(directory: &Path) -> Result<Option<Pairs>, Failure> {
    if !fio::installed() {
        println!("{}", fio::ABSENT);
        return Ok(None);
    }
    let scene = ProgramScene::new(directory)?;
    scene.prepare()?;
    let files = scene.databases();
    pairs::measure(0.9, || scene.check(), || peer(&files, &["--rw=read"])).map(Some)
}

/// `prepare` of two databases compared with sequential writes of equally many bytes, flushed at the
/// end.
pub(crate) fn prepare(directory: &Path) -> Result<Option<Pairs>, Failure> {
    if !fio::installed() {
        println!("{}", fio::ABSENT);
        return Ok(None);
    }
    let scene = ProgramScene::new(directory)?;
    let files: Vec<String> =
        (0..DATABASES).map(|number| scene.path(&format!("fio{number}"))).collect();
    let size = format!("--size={}", DATABASE_BYTES * DATABASES as u64);
    let prepared = pairs::measure(
        0.8,
        || scene.prepare(),
        || {
            for file in &files {
                let _ = fs::remove_file(file);
            }
            peer(&files, &["--rw=write", "--end_fsync=1", "--allow_file_create=1", &size])
        },
    );
    prepared.map(Some)
}
