//! The Python virtual environment of the readers dissect.esedb and impacket.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{PeerError, TableDigest};

/// Variable with the virtual environment's folder; `cargo xtask test` sets it.
const ENVIRONMENT_VARIABLE: &str = "PLIMSOLL_PEERS";

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

/// A reader written in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonReader {
    /// dissect.esedb: follows long values and walks indexes.
    Dissect,
    /// impacket's ese module: records only.
    Impacket,
}

/// The readers of one virtual environment.
#[derive(Clone, Debug)]
pub struct PythonReaders {
    folder: PathBuf,
}

/// Why the virtual environment could not be created.
#[derive(Debug)]
pub struct SetUpError {
    /// The step that failed, as a command line.
    pub command: String,
    /// Output of the command.
    pub message: String,
}

impl fmt::Display for SetUpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the Python readers are not set up: `{}` failed: {}; \
             Python 3.9 or later with venv and a reachable package index are needed",
            self.command,
            self.message.trim()
        )
    }
}

impl std::error::Error for SetUpError {}

/// Creates the virtual environment in `folder` with the pinned packages, unless a stamp file shows
/// that exactly these are already installed.
pub fn set_up(folder: &Path) -> Result<PythonReaders, SetUpError> {
    let requirements = Path::new(SCRIPTS).join("requirements.txt");
    let wanted = read_text(&requirements)?;
    let stamp = folder.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(PythonReaders { folder: folder.to_owned() });
    }
    // An incomplete environment has no stamp; it is created again instead of repaired.
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| SetUpError {
            command: format!("remove {}", folder.display()),
            message: error.to_string(),
        })?;
    }
    run(Command::new(system_python()).args(["-m", "venv"]).arg(folder))?;
    run(Command::new(python_in(folder))
        .args(["-m", "pip", "install", "--quiet"])
        .args(["--disable-pip-version-check", "--requirement"])
        .arg(&requirements))?;
    std::fs::write(&stamp, wanted).map_err(|error| SetUpError {
        command: format!("write {}", stamp.display()),
        message: error.to_string(),
    })?;
    Ok(PythonReaders { folder: folder.to_owned() })
}

impl PythonReaders {
    /// The environment that `cargo xtask test` set up; otherwise reports the skipped test on the
    /// error stream and returns `None`.
    pub fn from_environment(test: &str) -> Option<Self> {
        if let Some(folder) = std::env::var_os(ENVIRONMENT_VARIABLE) {
            return Some(Self { folder: folder.into() });
        }
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {test} needs dissect.esedb and impacket, which `cargo xtask test` sets up"
        );
        None
    }

    /// Unpacks the sample databases of dissect.esedb's source package into `folder`, unless they
    /// already exist.
    pub fn fetch_samples(&self, folder: &Path) -> Result<(), SetUpError> {
        self.fetch("fetch_samples.py", folder)
    }

    /// Unpacks outputs of RAID controllers' tools, and other programs' readings of them, into
    /// `folder`, unless they already exist.
    pub fn fetch_controllers(&self, folder: &Path) -> Result<(), SetUpError> {
        self.fetch("fetch_controllers.py", folder)
    }

    /// Checks that documents (.json, .jsonl or .toml) match the JSON Schema in a file; the error
    /// lists those that do not.
    pub fn validate(&self, schema: &Path, documents: &[PathBuf]) -> Result<(), SetUpError> {
        let mut python = Command::new(python_in(&self.folder));
        python.arg("-B").arg(Path::new(SCRIPTS).join("validate.py")).arg(schema);
        run(python.args(documents))
    }

    /// Decodes an OpenTelemetry request by the published schema, as a collector would; returns a
    /// line for each histogram.
    pub fn read_otlp(&self, request: &Path) -> Result<String, SetUpError> {
        let mut python = Command::new(python_in(&self.folder));
        python.arg("-B").arg(Path::new(SCRIPTS).join("read_otlp.py")).arg(request);
        said(&mut python)
    }

    fn fetch(&self, script: &str, folder: &Path) -> Result<(), SetUpError> {
        let mut python = Command::new(python_in(&self.folder));
        run(python.arg("-B").arg(Path::new(SCRIPTS).join(script)).arg(folder))
    }

    /// Has `reader` read `table` in `file`.
    pub fn read(
        &self,
        reader: PythonReader,
        file: &Path,
        table: &str,
    ) -> Result<TableDigest, PeerError> {
        let script = match reader {
            PythonReader::Dissect => "read_dissect.py",
            PythonReader::Impacket => "read_impacket.py",
        };
        let failed = |message: String| PeerError {
            reader: script.to_owned(),
            file: file.display().to_string(),
            message,
        };
        let output = Command::new(python_in(&self.folder))
            .arg("-B")
            .arg(Path::new(SCRIPTS).join(script))
            .arg(file)
            .arg(table)
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(words(&output)));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
    }
}

fn system_python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}

fn python_in(folder: &Path) -> PathBuf {
    if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    }
}

fn read_text(path: &Path) -> Result<String, SetUpError> {
    std::fs::read_to_string(path).map_err(|error| SetUpError {
        command: format!("read {}", path.display()),
        message: error.to_string(),
    })
}

fn run(command: &mut Command) -> Result<(), SetUpError> {
    said(command).map(drop)
}

fn said(command: &mut Command) -> Result<String, SetUpError> {
    let message = match command.output() {
        Ok(output) if output.status.success() => {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Ok(output) => words(&output),
        Err(error) => error.to_string(),
    };
    Err(SetUpError { command: format!("{command:?}"), message })
}

/// The output of a command, standard error last because it is the most informative.
fn words(output: &Output) -> String {
    format!(
        "{} {} ({})",
        String::from_utf8_lossy(&output.stdout).trim(),
        String::from_utf8_lossy(&output.stderr).trim(),
        output.status
    )
}
