//! The Python package of the reader: builds it, installs it in a separate environment, and compares
//! it with an independent reader, value by value.

use xtask::failure::Failure;
use xtask::shell;

use crate::peers;

/// Packages that build the reader's package, that check it, and that one of its functions needs.
const PACKAGES: [&str; 3] = ["maturin>=1.7,<2", "dissect.esedb", "pyarrow"];

/// Builds the wheel into `target/wheels`, installs it and runs its tests.
pub(crate) fn run() -> Result<(), Failure> {
    peers::install()?;
    let environment = shell::root().join("target/python");
    let folder = environment.display().to_string();
    if !environment.exists() {
        shell::run(&["python3", "-m", "venv", &folder])?;
    }
    let python = format!("{folder}/bin/python");
    let pip = [&python, "-m", "pip", "--quiet", "--disable-pip-version-check"];
    shell::run(&[&pip[..], &["install"], &PACKAGES].concat())?;
    let wheels = ["wheel", "--no-deps", "--wheel-dir", "target/wheels", "python"];
    shell::run(&[&pip[..], &wheels].concat())?;
    let own = ["install", "--force-reinstall", "--no-index", "--find-links", "target/wheels"];
    shell::run(&[&pip[..], &own, &["plimsoll-ese"]].concat())?;
    let status = shell::command(&[&python, "-m", "unittest", "discover", "python/tests"])
        .env("PLIMSOLL_SAMPLES", shell::root().join("target/samples"))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::new("the Python package fails its tests; see above")),
    }
}
