//! Coverage-guided fuzzing of every decoder, if the machine can build libFuzzer. `cargo xtask test`
//! replays the corpora and mutates them, without coverage, as unit tests of `testkit`.
//!
//! The coverage that guides the fuzzer comes from an LLVM pass of the stable compiler, so no other
//! toolchain is needed; a sanitizer would need one, and safe code gains little from it.

use std::fs;

use xtask::failure::Failure;
use xtask::shell;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Default seconds for each decoder.
pub(crate) const SHORT_SECONDS: u32 = 10;
/// Seconds for each decoder in the proofs before a release.
pub(crate) const LONG_SECONDS: u32 = 60;

/// Fuzzes every decoder for `seconds`. Findings are kept in `fuzz/target/findings`.
pub(crate) fn run(seconds: u32) -> Result<(), Failure> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !shell::installed("c++") {
        println!("fuzzing skipped: it needs Linux on x86-64 and a C++ compiler");
        return Ok(());
    }
    build()?;
    let findings = shell::root().join("fuzz/target/findings");
    for name in targets()? {
        let found = findings.join(&name);
        fs::create_dir_all(&found)
            .map_err(|error| Failure::new(format!("{}: {error}", found.display())))?;
        fuzz(&name, seconds)?;
    }
    Ok(())
}

fn build() -> Result<(), Failure> {
    let words = ["cargo", "build", "-q", "--release", "--target", TARGET];
    let status = shell::command(&words)
        .args(["--manifest-path", "fuzz/Cargo.toml"])
        .env("RUSTFLAGS", COVERAGE)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::new("the fuzzing package does not build; see above")),
    }
}

/// Names of the decoders, each of which has a corpus folder.
fn targets() -> Result<Vec<String>, Failure> {
    let folder = shell::root().join("fuzz/corpus");
    let entries = fs::read_dir(&folder)
        .map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

fn fuzz(name: &str, seconds: u32) -> Result<(), Failure> {
    let program = format!("fuzz/target/{TARGET}/release/{name}");
    let findings = format!("fuzz/target/findings/{name}");
    let output = shell::command(&[&program, "-max_len=16384", "-print_final_stats=1"])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={findings}/finding-"))
        .args([&findings, &format!("fuzz/corpus/{name}")])
        .output()
        .map_err(|error| Failure::new(format!("cannot start {program}: {error}")))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(Failure::new(format!(
            "{text}\nthe decoder `{name}` does not survive the input above: \
             mend it and keep the input in fuzz/corpus/{name}"
        )));
    }
    let runs = text
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units: "))
        .unwrap_or("?");
    println!("  fuzz {name:<12} {runs} inputs in {seconds} s, all survived");
    Ok(())
}
