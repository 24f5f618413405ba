//! The programs that are packed: given ones, or release builds made here.

use std::env;
use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

use super::payload::Program;
use super::{Order, needs};
use crate::windows::{self, Tool};

/// A Linux program without a library of the system's.
const MUSL: &str = "x86_64-unknown-linux-musl";

pub(super) const HERE: &str = "x86_64-unknown-linux-gnu";

/// Compiles the C of dependencies against it.
const MUSL_TOOLS: [Tool; 1] = [("/usr/bin/musl-gcc", "musl-tools")];

/// The programs in the packages.
pub(super) struct Programs {
    /// With the system's C library.
    pub linux: PathBuf,
    /// With a C library inside.
    pub fixed: Option<PathBuf>,
    pub windows: Option<PathBuf>,
}

impl Programs {
    /// Those that `order` names, or new builds of the commit of that time.
    pub(super) fn of(
        order: &Order,
        epoch: u64,
        lacking: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        if let Some(binary) = &order.binary {
            let is_fixed = order.fixed.is_none() && needs::glibc(binary)?.is_none();
            let fixed = order.fixed.clone().or_else(|| is_fixed.then(|| binary.clone()));
            let windows = order.windows.clone();
            if windows.is_none() {
                lacking.push("packages for Windows: give --windows".to_owned());
            }
            return Ok(Self { linux: binary.clone(), fixed, windows });
        }
        let windows = windows::release().map_err(|failure| lacking.push(failure.to_string())).ok();
        let linux = build(HERE, "linux", &[], epoch)?;
        let fixed = if has_musl() {
            build(MUSL, "musl", &[], epoch)?
        } else {
            println!("no target {MUSL} of rustup here: the static program has glibc inside");
            build(HERE, "static", &["-Ctarget-feature=+crt-static"], epoch)?
        };
        if let Some(program) = &windows {
            println!("plimsoll.exe needs {}", needs::libraries(program)?.join(", "));
            same_version(program, &linux)?;
        }
        Ok(Self { linux, fixed: Some(fixed), windows })
    }

    /// The program with the system's C library, stripped.
    pub(super) fn packed(&self) -> Result<Program, Failure> {
        Program::stripped(&self.linux, &shell::root().join("target/dist-work/linux"))
    }

    /// What they were built for.
    pub(super) fn targets(&self) -> Vec<&'static str> {
        let windows = self.windows.as_ref().map(|_| windows::TARGET);
        std::iter::once(HERE).chain(windows).collect()
    }
}

fn same_version(windows: &Path, linux: &Path) -> Result<(), Failure> {
    let here = shell::capture(&[&linux.display().to_string(), "-V"])?;
    let there = windows::answer(windows, "-V")?;
    if here.trim() == there.trim() {
        return Ok(());
    }
    Err(Failure::new(format!("the programs are {here} and {there}")))
}

/// The profile that is handed out; it inherits from `release`.
pub(crate) const PROFILE: &str = "dist";

/// A release build in a separate target folder, without any path of this machine.
fn build(target: &str, kind: &str, flags: &[&str], epoch: u64) -> Result<PathBuf, Failure> {
    let folder = shell::root().join("target").join("dist-build").join(kind);
    let to = folder.display().to_string();
    let words = [
        "cargo",
        "build",
        "-q",
        "--profile",
        PROFILE,
        "-p",
        "plimsoll",
        "--target",
        target,
        "--target-dir",
        &to,
    ];
    let root = shell::root().display().to_string();
    let cargo = env::var("CARGO_HOME").unwrap_or_else(|_| {
        format!("{}/.cargo", env::var("HOME").unwrap_or_else(|_| "/root".to_owned()))
    });
    let renamed = [(&cargo, "/cargo"), (&root, "/plimsoll")];
    let rust: Vec<String> = flags
        .iter()
        .map(|flag| (*flag).to_owned())
        .chain(renamed.iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")))
        .collect();
    let c = renamed.map(|(from, to)| format!("-ffile-prefix-map={from}={to}")).join(" ");
    let mut command = shell::command(&words);
    command
        .env("CARGO_ENCODED_RUSTFLAGS", rust.join("\x1f"))
        .env("CFLAGS", c)
        .env("CARGO_INCREMENTAL", "0")
        .env("CC_x86_64_unknown_linux_musl", MUSL_TOOLS[0].0)
        .env("SOURCE_DATE_EPOCH", epoch.to_string());
    if !command.status().is_ok_and(|status| status.success()) {
        return Err(Failure::new(format!("`{}` failed", words.join(" "))));
    }
    Ok(folder.join(target).join(PROFILE).join("plimsoll"))
}

fn has_musl() -> bool {
    let lacking = windows::install(windows::FOREIGN, &MUSL_TOOLS);
    if !lacking.is_empty() {
        return false;
    }
    // Failure shows below, when the target's libraries are missing.
    let _ = shell::capture(&["rustup", "-q", "target", "add", MUSL]);
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let told = shell::capture(&[&compiler, "--print", "target-libdir", "--target", MUSL]);
    told.is_ok_and(|folder| Path::new(folder.trim()).exists())
}
