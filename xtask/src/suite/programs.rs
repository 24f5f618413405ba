//! The programs that cargo builds from tests, and the single build that produces all of them.

use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;

use cargo_metadata::{Artifact, Message, Package};
use xtask::failure::Failure;
use xtask::shell;

use crate::metadata;

/// Package of the program that the end-to-end tests run.
pub(crate) const PROGRAM: &str = "plimsoll";

/// Location of a program's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Within the sources of a library or a program.
    Unit,
    /// In a file under `tests/`.
    Integration,
}

/// A built program of tests.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub package: String,
    /// Name of the library, program or test file.
    pub target: String,
    pub kind: Kind,
    pub executable: PathBuf,
    /// Folder of the package.
    pub folder: PathBuf,
}

impl Program {
    /// Whether the tests run the real program and mostly wait for it.
    pub(crate) fn waits(&self) -> bool {
        self.package == PROGRAM && self.kind == Kind::Integration
    }

    /// The command that builds and runs this test program alone.
    pub(super) fn again(&self) -> String {
        match self.kind {
            Kind::Unit => format!("cargo test -p {} --lib --bins", self.package),
            Kind::Integration => format!("cargo test -p {} --test {}", self.package, self.target),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Unit => write!(f, "{}", self.package),
            Kind::Integration => write!(f, "{}, tests/{}", self.package, self.target),
        }
    }
}

/// Builds the tests that `words` select, and the programs that they run.
pub(crate) fn build(words: &[&str]) -> Result<Vec<Program>, Failure> {
    let packages = metadata::workspace()?.packages;
    let artifacts = artifacts(words)?;
    Ok(artifacts.iter().filter_map(|artifact| program(artifact, &packages)).collect())
}

/// Path of the program `name` that tests run, built together with all of them.
pub(crate) fn helper(name: &str) -> Result<PathBuf, Failure> {
    let built = artifacts(&["--workspace"])?;
    let named = built.iter().find(|one| !one.profile.test && one.target.name == name);
    let executable = named.and_then(|one| one.executable.clone());
    let executable = executable.ok_or_else(|| Failure::new(format!("no test drives {name}")))?;
    Ok(executable.into())
}

/// Builds the tests selected by `words` and returns all workspace artifacts.
fn artifacts(words: &[&str]) -> Result<Vec<Artifact>, Failure> {
    let test = ["cargo", "test", "--no-run", "--message-format", "json-render-diagnostics", "-q"];
    let output = shell::command(&test)
        .args(words)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::new(format!("cannot start cargo: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new(format!("the tests do not build: {}", words.join(" "))));
    }
    let messages = Message::parse_stream(&output.stdout[..]).filter_map(Result::ok);
    let artifacts = messages.filter_map(|message| match message {
        Message::CompilerArtifact(artifact) => Some(artifact),
        _ => None,
    });
    Ok(artifacts.collect())
}

/// The test program in `artifact`, if it is one.
fn program(artifact: &Artifact, packages: &[Package]) -> Option<Program> {
    let executable = artifact.executable.clone().filter(|_| artifact.profile.test)?;
    let package = packages.iter().find(|one| one.manifest_path == artifact.manifest_path)?;
    Some(Program {
        package: package.name.to_string(),
        target: artifact.target.name.clone(),
        kind: if artifact.target.is_test() { Kind::Integration } else { Kind::Unit },
        executable: executable.into(),
        folder: artifact.manifest_path.parent()?.into(),
    })
}
