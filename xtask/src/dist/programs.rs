//! The programs to pack: given ones, or release builds made here.

use std::env;
use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

use super::payload::Program;
use super::{Order, needs};
use crate::dist::machine::Machine;
use crate::targets;
use crate::windows::{self, Tool};

/// Target of a Linux program that needs no system library.
const MUSL: &str = "x86_64-unknown-linux-musl";

pub(super) const HERE: &str = "x86_64-unknown-linux-gnu";

/// C compiler for that target, for the C code in dependencies.
const MUSL_TOOLS: [Tool; 1] = [("/usr/bin/musl-gcc", "musl-tools")];

const ARM: &str = "aarch64-unknown-linux-gnu";

/// C compiler and linker for ARM, and a C library as old as Debian's.
const ARM_TOOLS: [Tool; 2] = [
    ("/usr/bin/aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    ("/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-dev-arm64-cross"),
];

/// The programs to pack.
pub(super) struct Programs {
    /// Linux, with the system's C library.
    pub linux: PathBuf,
    /// Linux, with a C library built in.
    pub fixed: Option<PathBuf>,
    /// Linux on 64-bit ARM.
    pub arm: Option<PathBuf>,
    pub windows: Option<PathBuf>,
}

impl Programs {
    /// The programs that `order` names, or else new builds, with the commit's time `epoch`. Adds
    /// the reasons for missing programs to `lacking`.
    pub(super) fn of(
        order: &Order,
        epoch: u64,
        lacking: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        if let Some(binary) = &order.binary {
            let is_fixed = order.fixed.is_none() && needs::glibc(binary, Machine::Amd64)?.is_none();
            let fixed = order.fixed.clone().or_else(|| is_fixed.then(|| binary.clone()));
            let (arm, windows) = (order.arm.clone(), order.windows.clone());
            let given = [("Windows", "--windows", &windows), ("ARM", "--arm", &arm)];
            for (system, option, _) in given.iter().filter(|(_, _, path)| path.is_none()) {
                lacking.push(format!("packages for {system}: give {option}"));
            }
            return Ok(Self { linux: binary.clone(), fixed, arm, windows });
        }
        let windows = windows::release().map_err(|failure| lacking.push(failure.to_string())).ok();
        let linux = build(HERE, "linux", &[], epoch)?;
        let fixed = if can_build(MUSL, &MUSL_TOOLS) {
            build(MUSL, "musl", &[], epoch)?
        } else {
            println!("no target {MUSL} of rustup here: the static program has glibc inside");
            build(HERE, "static", &["-Ctarget-feature=+crt-static"], epoch)?
        };
        let arm = can_build(ARM, &ARM_TOOLS).then(|| build(ARM, "arm", &[], epoch)).transpose()?;
        if arm.is_none() {
            lacking.push(format!("packages for ARM: rustup target add {ARM}, and its compiler"));
        }
        if let Some(program) = &windows {
            println!("plimsoll.exe needs {}", needs::libraries(program)?.join(", "));
            same_version(program, &linux)?;
        }
        Ok(Self { linux, fixed: Some(fixed), arm, windows })
    }

    /// The stripped program that uses the system's C library.
    pub(super) fn packed(&self) -> Result<Program, Failure> {
        Program::stripped(&self.linux, &shell::root().join("target/dist-work/linux"))
    }

    /// Target triples of the programs.
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

/// The Cargo profile for distribution; it inherits from `release`.
pub(crate) const PROFILE: &str = "dist";

/// Makes a release build in a separate target folder. It contains no path of this machine.
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
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", ARM_TOOLS[0].0)
        .env("SOURCE_DATE_EPOCH", epoch.to_string());
    if !command.status().is_ok_and(|status| status.success()) {
        return Err(Failure::new(format!("`{}` failed", words.join(" "))));
    }
    Ok(folder.join(target).join(PROFILE).join("plimsoll"))
}

fn can_build(target: &str, tools: &[Tool]) -> bool {
    windows::install(windows::FOREIGN, tools).is_empty() && targets::is_here(target)
}
