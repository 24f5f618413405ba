//! A certificate authority, and a server certificate that it signs, both made with openssl and
//! valid for a few days.

use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

use xtask::network::SERVER;

/// PEM files that a server and its clients need.
pub(super) struct Certificate {
    pub(super) authority: PathBuf,
    pub(super) own: PathBuf,
    pub(super) key: PathBuf,
}

impl Certificate {
    /// Makes the files in `folder`.
    pub(super) fn new(folder: &Path) -> Result<Self, Failure> {
        let file = |name: &str| folder.join(name);
        let authority = (file("ca.pem"), file("ca.key"));
        let own = ["-x509", "-subj", "/CN=plimsoll"];
        make(&own, (&authority.0, &authority.1))?;
        let (certificate, key) = (file("server.pem"), file("server.key"));
        let by = [authority.0.display().to_string(), authority.1.display().to_string()];
        let address = format!("subjectAltName=IP:{SERVER}");
        let signed = ["-x509", "-subj", "/CN=server", "-CA", &by[0], "-CAkey", &by[1]];
        let names = ["-addext", &address, "-addext", "basicConstraints=critical,CA:FALSE"];
        make(&[&signed[..], &names].concat(), (&certificate, &key))?;
        Ok(Self { authority: authority.0, own: certificate, key })
    }
}

fn make(words: &[&str], (certificate, key): (&Path, &Path)) -> Result<(), Failure> {
    let new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let files = ["-nodes", "-days", "2", "-keyout", &key, "-out", &certificate];
    shell::capture(&[&new[..], words, &files].concat()).map(drop)
}
