//! Builds the release archive: self-contained programs, and the files that must accompany them.

mod needs;
mod notices;

use std::path::{Path, PathBuf};
use std::{env, fs};

use xtask::failure::Failure;
use xtask::shell;

use crate::windows::{self, Tool};

/// The profile of what is handed out: with link-time optimisation, which takes minutes.
pub(crate) const PROFILE: &str = "dist";

/// A Linux program without a library of the system's.
const MUSL: &str = "x86_64-unknown-linux-musl";

const HERE: &str = "x86_64-unknown-linux-gnu";

/// Compiles the C of dependencies against it.
const MUSL_TOOLS: [Tool; 1] = [("/usr/bin/musl-gcc", "musl-tools")];

/// Builds it all into `target/dist`.
pub(crate) fn run() -> Result<(), Failure> {
    let folder = shell::root().join("target/dist");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(Failure::of)?;
    let windows = windows::release()?;
    println!("plimsoll.exe needs {}", needs::libraries(&windows)?.join(", "));
    let (linux, target) = linux()?;
    println!("plimsoll for {target} needs {}", needs::linux(&linux)?);
    let version = shell::capture(&[&linux.display().to_string(), "--version"])?;
    let under_wine = windows::answer(&windows, "--version")?;
    if under_wine.trim() != version.trim() {
        return Err(Failure::new(format!("the programs are {version} and {under_wine}")));
    }
    hand_out(&windows, &folder.join("plimsoll.exe"))?;
    hand_out(&linux, &folder.join("plimsoll"))?;
    let notices = notices::of(&[windows::TARGET, target])?;
    fs::write(folder.join("LICENCES.txt"), notices).map_err(Failure::of)?;
    checksums(&folder)
}

/// The program for Linux, and what it was built for: musl where the toolchain has or gets it, else
/// this system.
fn linux() -> Result<(PathBuf, &'static str), Failure> {
    let target = if has_musl() { MUSL } else { HERE };
    let words = [
        &["cargo", "build", "-q", "--profile", PROFILE][..],
        &["-p", "plimsoll", "--target", target],
    ]
    .concat();
    let mut command = shell::command(&words);
    command.env("CC_x86_64_unknown_linux_musl", MUSL_TOOLS[0].0);
    if !command.status().is_ok_and(|status| status.success()) {
        return Err(Failure::new(format!("`{}` failed", words.join(" "))));
    }
    Ok((shell::root().join("target").join(target).join(PROFILE).join("plimsoll"), target))
}

fn has_musl() -> bool {
    let lacking = windows::install(windows::FOREIGN, &MUSL_TOOLS);
    if !lacking.is_empty() {
        println!("without {} the program for Linux needs the system's library", lacking.join(" "));
        return false;
    }
    // A failure here shows in the check that follows.
    let _ = shell::capture(&["rustup", "-q", "target", "add", MUSL]);
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let told = shell::capture(&[&compiler, "--print", "target-libdir", "--target", MUSL]);
    told.is_ok_and(|folder| Path::new(folder.trim()).exists())
}

fn hand_out(program: &Path, to: &Path) -> Result<(), Failure> {
    let bytes = fs::copy(program, to)
        .map_err(|error| Failure::new(format!("{}: {error}", to.display())))?;
    println!("{}: {} MiB", to.display(), bytes >> 20);
    Ok(())
}

/// Writes the SHA-256 of every file, in the form that `sha256sum -c` reads.
fn checksums(folder: &Path) -> Result<(), Failure> {
    let files = ["plimsoll", "plimsoll.exe", "LICENCES.txt"];
    let mut command = shell::command(&["sha256sum"]);
    let output = command.args(files).current_dir(folder).output().map_err(Failure::of)?;
    if !output.status.success() {
        return Err(Failure::new(String::from_utf8_lossy(&output.stderr)));
    }
    print!("{}", String::from_utf8_lossy(&output.stdout));
    fs::write(folder.join("SHA256SUMS"), output.stdout).map_err(Failure::of)
}
