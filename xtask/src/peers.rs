//! Independent readers of the file format, in a virtual environment under `target/`, so that the
//! databases are judged by code that is not ours.

use crate::failure::Failure;
use crate::shell;

/// What is installed, pinned. A change here is a change of the referee: rerun the whole suite.
const PINNED: &[&str] = &["dissect.esedb==3.18", "impacket==0.13.1"];

/// Makes the virtual environment where it is missing or holds other versions.
pub fn install() -> Result<(), Failure> {
    let folder = shell::root().join("target/peers");
    let stamp = folder.join("plimsoll-pins.txt");
    let wanted = PINNED.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let folder_text = folder.display().to_string();
    let python = folder.join("bin/python").display().to_string();
    shell::run(&["python3", "-m", "venv", "--clear", &folder_text])?;
    let mut words = vec![
        python.as_str(),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    words.extend(PINNED);
    shell::run(&words)?;
    std::fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", stamp.display())))
}
