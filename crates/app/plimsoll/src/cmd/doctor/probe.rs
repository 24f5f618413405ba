//! Checks whether something is present on this machine, without starting or changing anything.

use std::env;
use std::path::Path;

use super::needs::Thing;
use host::wire;

/// Certificate folders and files of common distributions.
const CERTIFICATES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Whether `thing` is present.
pub(super) fn is_there(thing: &Thing) -> bool {
    match thing {
        Thing::Program(names) => names.iter().any(|name| has_program(name)),
        Thing::Path(path) => Path::new(path).exists(),
        Thing::Ring => wire::world().is_ok_and(|world| world.backend().to_string() == RING),
        Thing::Root => is_root(),
        Thing::Certificates => {
            cfg!(windows) || CERTIFICATES.iter().any(|at| Path::new(at).exists())
        }
    }
}

/// The backend's own name for itself.
const RING: &str = "io_uring";

fn has_program(name: &str) -> bool {
    if name.starts_with('/') {
        return Path::new(name).exists();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Root alone can read this.
fn is_root() -> bool {
    std::fs::File::open("/etc/shadow").is_ok()
}

#[cfg(test)]
mod tests {
    use super::has_program;

    #[test]
    #[cfg(unix)]
    fn programs_are_found_on_the_path_and_at_their_places() {
        assert!(has_program("sh") && has_program("/bin/sh"));
        assert!(!has_program("no-such-program") && !has_program("/bin/no-such-program"));
    }
}
