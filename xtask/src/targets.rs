//! Standard libraries for other systems, which rustup fetches so that this toolchain can compile
//! for them.

use std::env;
use std::path::Path;

use xtask::shell;

/// Whether the standard library for `target` is installed; fetches it first if it is missing.
pub(crate) fn is_here(target: &str) -> bool {
    if has_library(target) {
        return true;
    }
    println!("installing, for builds of other systems: rustup target add {target}");
    // If this fails, the next check notices.
    let _ = shell::capture(&["rustup", "-q", "target", "add", target]);
    has_library(target)
}

fn has_library(target: &str) -> bool {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let folder = shell::capture(&[&compiler, "--print", "target-libdir", "--target", target]);
    folder.is_ok_and(|folder| Path::new(folder.trim()).exists())
}

#[cfg(test)]
mod tests {
    use super::has_library;

    #[test]
    fn this_system_is_there_and_an_unknown_one_is_not() {
        assert!(has_library(&format!("{}-unknown-linux-gnu", std::env::consts::ARCH)));
        assert!(!has_library("pdp11-unknown-unix"));
    }
}
