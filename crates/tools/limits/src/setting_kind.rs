//! The kinds of settings that limit a request or an answer: their names and units.

use std::fmt;

/// Bytes in the unit of `maxRequestLength`, exactly as the runtime counts them.
const KILOBYTE: u64 = 1 << 10;

/// A kind of limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingKind {
    /// `requestLimits@maxAllowedContentLength`: IIS, in bytes.
    ContentLength,
    /// `httpRuntime@maxRequestLength`: ASP.NET, in KiB.
    RequestLength,
    /// `maxReceivedMessageSize` of a binding or its transport: the service, in bytes.
    ReceivedMessage,
    /// `readerQuotas@maxStringContentLength` of a binding: enforced by the service, in bytes.
    StringContent,
    /// `MaxDocumentDataSize` among the settings of `ActiveSync`: documents fetched, in bytes.
    DocumentData,
}

impl SettingKind {
    /// The name of the attribute or key.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContentLength => "maxAllowedContentLength",
            Self::RequestLength => "maxRequestLength",
            Self::ReceivedMessage => "maxReceivedMessageSize",
            Self::StringContent => "maxStringContentLength",
            Self::DocumentData => "MaxDocumentDataSize",
        }
    }

    /// Bytes in one unit of the setting.
    pub(crate) const fn unit(self) -> u64 {
        match self {
            Self::RequestLength => KILOBYTE,
            _ => 1,
        }
    }

    /// The least number to write so that `bytes` pass.
    pub(crate) const fn number_for(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.unit())
    }
}

impl fmt::Display for SettingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
