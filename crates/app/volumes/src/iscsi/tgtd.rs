//! The control socket of a `tgtd` on this machine.

use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

use host::system;
use luns::tgt::{RESPONSE_BYTES, TgtLive, TgtRequest, answer_bytes};

use console::error::CommandError;

/// Default location of `tgtd`'s sockets, overridden by the same variable as for its own tools.
const SOCKETS: &str = "/var/run/tgtd/socket";
const VARIABLE: &str = "TGT_IPC_SOCKET";

/// Upper bound on the length of a target list.
const LONGEST_ANSWER: usize = 16 << 20;

/// The `tgtd` that listens at `socket`.
pub(super) struct Tgtd {
    socket: String,
}

impl Tgtd {
    /// The socket of a control port.
    pub(super) fn socket(control_port: u16) -> String {
        let base = std::env::var(VARIABLE).unwrap_or_else(|_| SOCKETS.to_owned());
        format!("{base}.{control_port}")
    }

    pub(super) fn at(socket: &str) -> Self {
        Self { socket: socket.to_owned() }
    }

    /// Targets, accounts and portals that `tgtd` reports.
    pub(super) fn live(&self) -> Result<TgtLive, CommandError> {
        let [targets, accounts, portals] = TgtRequest::show().map(|request| self.ask(&request));
        Ok(TgtLive::parse(&targets?, &accounts?, &portals?))
    }

    /// Sends a request on a separate connection and returns the answer.
    pub(super) fn ask(&self, request: &TgtRequest) -> Result<String, CommandError> {
        let bytes = request.to_bytes();
        let answer = self.exchange(&bytes).map_err(|error| self.unreachable(&error))?;
        match answer {
            Ok(text) => Ok(text),
            Err(fault) => Err(CommandError::new(format!(
                "tgtd refuses {request:?}: {fault}; see what `tgtadm --mode target --op show` says"
            ))),
        }
    }

    fn exchange(&self, request: &[u8]) -> io::Result<Result<String, luns::tgt::TgtFault>> {
        let mut stream = system::connect_local(&PathBuf::from(&self.socket))?;
        stream.write_all(request)?;
        let mut header = [0; RESPONSE_BYTES];
        stream.read_exact(&mut header)?;
        let length = match answer_bytes(header) {
            Ok(length) => length.min(LONGEST_ANSWER),
            Err(fault) => return Ok(Err(fault)),
        };
        let mut answer = Vec::new();
        stream.take(length as u64).read_to_end(&mut answer)?;
        let text = String::from_utf8_lossy(&answer);
        Ok(Ok(text.trim_end_matches('\0').to_owned()))
    }

    fn unreachable(&self, error: &io::Error) -> CommandError {
        CommandError::new(format!(
            "{}: no tgtd answers there: {error}; start it (package tgt) and run as root, or set \
             `control_port`, or {VARIABLE}, as it was told by its own -C",
            self.socket
        ))
    }
}
