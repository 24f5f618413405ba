//! What a server offers to a connection, and how a connection ends.

/// Bounds of a session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum length of a read or write in bytes.
    pub longest_request: u64,
    /// Maximum length of an option's data in bytes.
    pub longest_option: u32,
    /// Maximum number of options before the export is opened.
    pub most_options: u32,
    /// `true` if clients must encrypt the connection before anything else.
    pub needs_tls: bool,
}

impl Default for Limits {
    fn default() -> Self {
        let (longest_request, longest_option) = (64 << 20, 16 << 10);
        Self { longest_request, longest_option, most_options: 128, needs_tls: false }
    }
}

/// An export as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportOffer {
    /// Its name.
    pub name: String,
    /// A line for people.
    pub description: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// `true` if writes are refused.
    pub is_read_only: bool,
    /// Preferred size of requests, a power of two.
    pub preferred_block: u32,
}

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The client disconnected properly.
    Left,
    /// The client used `NBD_OPT_EXPORT_NAME`, which has no error reply, for an unknown export or
    /// before the required TLS.
    UnknownExport,
    /// The client's bytes do not follow the protocol.
    Nonsense,
    /// The client exceeded a limit of the negotiation.
    TooMuch,
}
