//! Bytes, page numbers, log generations and object identifiers.

use std::fmt;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// A number of kibibytes.
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib << 10)
    }

    /// A number of mebibytes.
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    /// A number of gibibytes.
    pub const fn from_gib(gib: u64) -> Self {
        Self(gib << 30)
    }

    /// The number in mebibytes, for display.
    pub fn as_mib_f64(self) -> f64 {
        self.0 as f64 / f64::from(1 << 20)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0;
        match bytes {
            0..1_024 => write!(f, "{bytes} B"),
            1_024..1_048_576 => write!(f, "{:.1} KiB", bytes as f64 / 1024.0),
            1_048_576..1_073_741_824 => write!(f, "{:.1} MiB", self.as_mib_f64()),
            1_073_741_824..1_099_511_627_776 => {
                write!(f, "{:.2} GiB", self.as_mib_f64() / 1024.0)
            }
            _ => write!(f, "{:.2} TiB", self.as_mib_f64() / 1_048_576.0),
        }
    }
}

/// A page of a database file, counted from 1; 0 means "no page".
///
/// Page `p` lies at byte `(p + 1) * page size`, after the two header pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNumber(pub u32);

impl PageNumber {
    /// "No page": the end of a sibling chain.
    pub const NONE: Self = Self(0);

    /// Whether this names a page at all.
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }
}

impl fmt::Display for PageNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A log generation: one 1 MiB log file; 0 means "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u32);

impl Generation {
    /// The generation after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#x})", self.0, self.0)
    }
}

/// The object identifier of a tree (ESE `objid`): table, index or long-value tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn bytes_read_in_the_nearest_binary_unit() {
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes::from_kib(32).to_string(), "32.0 KiB");
        assert_eq!(Bytes::from_mib(256).to_string(), "256.0 MiB");
        assert_eq!(Bytes::from_gib(2).to_string(), "2.00 GiB");
        assert_eq!(Bytes::from_gib(1_536).to_string(), "1.50 TiB");
    }
}
