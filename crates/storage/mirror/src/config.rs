//! The registry's record of a volume: its owner, and the location of acknowledged data.

/// One of the two hosts of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MirrorHost {
    /// The host that the volume was created on.
    A,
    /// Its peer.
    B,
}

impl MirrorHost {
    /// The other host.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// The flash copies that hold every acknowledged write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountedCopies {
    /// Both hosts.
    Both,
    /// This host alone; the other must be resynchronised first.
    Only(MirrorHost),
}

/// Location of every acknowledged write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Authority {
    /// In the backing store: flash holds copies at most, and either host may take over.
    Backing,
    /// On flash: only a host with a counted copy may take over.
    Flash(CountedCopies),
}

impl Authority {
    /// `true` if `host` may own the volume after another owner.
    #[must_use]
    pub const fn admits(self, host: MirrorHost) -> bool {
        match self {
            Self::Backing | Self::Flash(CountedCopies::Both) => true,
            Self::Flash(CountedCopies::Only(holder)) => holder as u8 == host as u8,
        }
    }

    /// `true` if acknowledged writes need the copy on the host that is not the owner.
    pub(crate) fn is_both(self) -> bool {
        self == Self::Flash(CountedCopies::Both)
    }
}

/// The configuration of a volume, changed only by compare-and-set on its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Raised by every takeover. Peer and backing store refuse lower ones.
    pub epoch: u64,
    /// The host that raised it.
    pub owner: MirrorHost,
    /// Where acknowledged writes are.
    pub authority: Authority,
}
