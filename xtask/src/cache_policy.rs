//! Compares the flash cache's policy with that of libCacheSim, an independent simulator of the same
//! algorithm, in its own Python environment.

use xtask::failure::Failure;
use xtask::shell;

const PACKAGE: &str = "libcachesim==0.3.5";

/// Installs the simulator and compares the policies; reports a skip if the simulator cannot be
/// installed.
pub(crate) fn run() -> Result<(), Failure> {
    let environment = shell::root().join("target/cache-policy");
    let folder = environment.display().to_string();
    if !environment.exists() {
        shell::run(&["python3", "-m", "venv", &folder])?;
    }
    let python = format!("{folder}/bin/python");
    let pip = [&python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", PACKAGE];
    if shell::run(&pip).is_err() {
        println!("skipped: {PACKAGE} cannot be installed here; it needs a network once");
        return Ok(());
    }
    shell::run(&["cargo", "build", "-q", "--release", "-p", "flashcache", "--example", "curve"])?;
    shell::run(&[&python, "bench/flash_cache_policy.py", "target/release/examples/curve"])
}
