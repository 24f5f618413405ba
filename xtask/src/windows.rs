//! The Windows build, built and tested on Linux: Debian's MinGW links it, and Wine runs it.

mod left_out;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cargo_metadata::{Artifact, Message};
use xtask::failure::Failure;
use xtask::shell;

use crate::dist::programs::PROFILE;
use crate::targets;
use crate::wine::{Session, WINE};

/// A required file, and the Debian package that contains it.
pub(crate) type Tool = (&'static str, &'static str);

const TOOLS: [Tool; 2] =
    [("/usr/bin/x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"), (WINE, "wine64")];

/// Purpose for which these tools, and those of other systems, are installed.
pub(crate) const FOREIGN: &str = "builds of other systems";

/// Number of unit test programs: those of `device-os` and of `plimsoll`.
const UNIT_TESTS: usize = 2;

pub(crate) const TARGET: &str = "x86_64-pc-windows-gnu";

/// Replaces a Windows library that Wine 8 lacks: the random source of Rust's standard library,
/// built on the older equivalent function.
const RANDOM_BYTES: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
    return SystemFunction036(bytes, (ULONG)length);
}
";

/// Variables for tests, by name.
type Environment = Vec<(&'static str, String)>;

/// Runs the unit tests, the comparison with the Linux program, `kills` kills, and the end-to-end
/// tests except those left out with a reason.
pub(crate) fn whole(kills: &str) -> Result<(), Failure> {
    let Some((environment, _session)) = run(kills)? else {
        return Ok(());
    };
    crate::steps::program_tests("end_to_end", &left_out::words(), &borrowed(&environment))
}

/// Runs a fleet of a native agent and an agent of the Windows build, whose results are merged.
pub(crate) fn mixed_fleet() -> Result<(), Failure> {
    if let Err(lack) = ready() {
        println!("SKIPPED: fleet mixed: {lack}");
        return Ok(());
    }
    let program = program()?;
    let session = Session::boot(folder().join("wine"))?;
    let paths = [program.as_path(), session.prefix()].map(|path| path.display().to_string());
    let [program, prefix] = &paths;
    crate::steps::mixed_fleet(&[("PLIMSOLL_WINDOWS", program), ("WINEPREFIX", prefix)])
}

/// Builds only the program, with the settings that build fastest.
fn program() -> Result<PathBuf, Failure> {
    let quickly = [("CARGO_PROFILE_DEV_DEBUG", "0"), ("CARGO_PROFILE_DEV_OPT_LEVEL", "0")];
    cargo("build -q -p plimsoll --bin plimsoll", &quickly)?;
    let program = folder().join(TARGET).join("debug/plimsoll.exe");
    lay_library(program.parent().unwrap_or(&program))?;
    Ok(program)
}

/// Installs the tools if allowed, or reports the missing ones. Then builds for Windows, runs the
/// unit tests, compares the program with the one for Linux, and kills it `kills` times. The
/// returned environment, for further tests of the program, is valid as long as the Wine session.
fn run(kills: &str) -> Result<Option<(Environment, Session)>, Failure> {
    if let Err(lack) = ready() {
        println!("skipped: {lack}");
        return Ok(None);
    }
    let built = build()?;
    println!("build: {}", built.program.display());
    let session = Session::boot(folder().join("wine"))?;
    for tests in &built.unit_tests {
        unit_tests(&session, tests)?;
    }
    crate::peers::install()?;
    let variables = ["PLIMSOLL_WINDOWS", "WINEPREFIX", crate::peers::VARIABLE];
    let paths = [built.program, session.prefix().into(), crate::peers::folder()];
    let mut environment: Environment =
        variables.into_iter().zip(paths.map(|path| path.display().to_string())).collect();
    environment.push(("PLIMSOLL_KILLS", kills.to_owned()));
    crate::steps::program_test("windows", &borrowed(&environment))?;
    crate::steps::program_test("kill", &borrowed(&environment))?;
    Ok(Some((environment, session)))
}

fn borrowed<'a>(environment: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    environment.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// Installs the tools that build for Windows, or names the missing ones.
fn ready() -> Result<(), Failure> {
    let lacking = install(FOREIGN, &TOOLS);
    if !lacking.is_empty() {
        return Err(Failure::new(format!(
            "the Windows build needs packages that are not there and cannot be installed here; on \
             Debian, as root: apt-get update && apt-get install {}",
            lacking.join(" ")
        )));
    }
    if targets::is_here(TARGET) {
        return Ok(());
    }
    let sentence =
        format!("the Windows build needs its standard library: rustup target add {TARGET}");
    Err(Failure::new(sentence))
}

/// The packages still missing after an attempt to install them.
pub(crate) fn install(purpose: &str, tools: &[Tool]) -> Vec<&'static str> {
    let is_there = |path: &str| Path::new(path).exists();
    let lacking = missing(tools, is_there);
    if lacking.is_empty() {
        return lacking;
    }
    println!("installing, for {purpose}: {}", lacking.join(" "));
    let quietly = ["apt-get", "-qq", "-y", "--no-install-recommends", "install"];
    // If this fails, the next check finds the packages missing.
    let _ = shell::capture(&["apt-get", "-qq", "update"])
        .and_then(|_| shell::capture(&[&quietly[..], &lacking].concat()));
    missing(tools, is_there)
}

/// The packages of missing tools.
fn missing(tools: &[Tool], is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    tools.iter().filter(|(path, _)| !is_there(path)).map(|(_, package)| *package).collect()
}

/// Builds the release program: optimised, without debug information.
pub(crate) fn release() -> Result<PathBuf, Failure> {
    ready()?;
    cargo(&format!("build -q --profile {PROFILE} -p plimsoll"), &[])?;
    let program = folder().join(TARGET).join(PROFILE).join("plimsoll.exe");
    lay_library(program.parent().unwrap_or(&program))?;
    Ok(program)
}

/// Runs a program for Windows with one argument under Wine and returns its output.
pub(crate) fn answer(program: &Path, word: &str) -> Result<String, Failure> {
    let session = Session::boot(folder().join("wine"))?;
    let output = session.command(WINE).arg(program).arg(word).output().map_err(Failure::of)?;
    if !output.status.success() {
        return Err(Failure::new(format!("{WINE} {} {word} failed", program.display())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Folder of the Windows build and its Wine prefix.
fn folder() -> PathBuf {
    shell::root().join("target/windows")
}

/// Programs of a Windows build.
#[derive(Default)]
struct WindowsBuild {
    program: PathBuf,
    unit_tests: Vec<PathBuf>,
}

/// Builds the program and its unit tests in one call of Cargo, because a second call would rebuild
/// every library. A test of the program makes Cargo build the program too.
fn build() -> Result<WindowsBuild, Failure> {
    let words = "test -q --no-run -p device-os -p plimsoll --lib --bins --test windows \
                 --message-format json";
    let unoptimised = [("CARGO_PROFILE_DEV_DEBUG", "0"), ("CARGO_PROFILE_TEST_DEBUG", "0")];
    let output = cargo(words, &unoptimised)?;
    let mut built = WindowsBuild::default();
    for message in Message::parse_stream(&output[..]) {
        if let Ok(Message::CompilerArtifact(artifact)) = message {
            built.note(&artifact);
        }
    }
    if built.program.as_os_str().is_empty() || built.unit_tests.len() != UNIT_TESTS {
        return Err(Failure::new(format!("`cargo {words}` has not built what was asked of it")));
    }
    let folders = [Some(built.program.as_path()), built.unit_tests.first().map(PathBuf::as_path)];
    for folder in folders.into_iter().flatten().filter_map(Path::parent) {
        lay_library(folder)?;
    }
    Ok(built)
}

/// Runs Cargo for Windows and returns its output.
fn cargo(words: &str, environment: &[(&str, &str)]) -> Result<Vec<u8>, Failure> {
    let mut command = shell::command(&["cargo"]);
    command.args(words.split(' ')).args(["--target", TARGET, "--target-dir"]).arg(folder());
    command.env("CARGO_INCREMENTAL", "0");
    command.envs(environment.iter().copied()).stderr(Stdio::inherit());
    let output = command.output().ok().filter(|output| output.status.success());
    Ok(output.ok_or_else(|| Failure::new(format!("`cargo {words}` for {TARGET} failed")))?.stdout)
}

impl WindowsBuild {
    /// Records the path of a built program, if it is one of those needed.
    fn note(&mut self, artifact: &Artifact) {
        let Some(executable) = &artifact.executable else {
            return;
        };
        match (artifact.profile.test, artifact.target.name.as_str()) {
            (false, "plimsoll") => self.program = executable.into(),
            (true, "plimsoll" | "device-os" | "device_os") => {
                self.unit_tests.push(executable.into());
            }
            _ => {}
        }
    }
}

/// Puts the library that Wine lacks next to the programs, where they look for it first.
fn lay_library(folder: &Path) -> Result<(), Failure> {
    let library = folder.join("bcryptprimitives.dll");
    if library.exists() {
        return Ok(());
    }
    let source = folder.join("bcryptprimitives.c");
    fs::write(&source, RANDOM_BYTES)
        .map_err(|error| Failure::new(format!("{}: {error}", source.display())))?;
    let [source, library] = [source, library].map(|path| path.display().to_string());
    let compiler = "/usr/bin/x86_64-w64-mingw32-gcc";
    shell::run(&[compiler, "-shared", "-o", &library, &source, "-ladvapi32"])
}

/// Runs unit tests under Wine.
fn unit_tests(session: &Session, program: &Path) -> Result<(), Failure> {
    println!("under Wine: {}", program.display());
    let mut command = session.command(WINE);
    command.arg(program).arg("-q").current_dir(shell::root());
    if command.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new(format!("{WINE} {} failed", program.display())))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_missing_is_named_by_its_package() {
        let tools = &super::TOOLS;
        assert_eq!(super::missing(tools, |_| true), [""; 0]);
        assert_eq!(super::missing(tools, |path| path != super::WINE), ["wine64"]);
        assert_eq!(super::missing(tools, |_| false).len(), 2);
    }
}
