//! The link-layer addresses that redundancy protocols reserve, and the ids within them.

use std::fmt;

/// The protocol or vendor that reserves the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MacKind {
    /// 00:00:5e:00:01:ID: VRRP for IPv4, and CARP.
    Vrrp4,
    /// 00:00:5e:00:02:ID: VRRP for IPv6.
    Vrrp6,
    /// 00:00:5e:00:XX:ID with another number: CARP of load balancers with several interfaces.
    Carp,
    /// 00:00:0c:07:ac:ID: HSRP 1.
    Hsrp1,
    /// 00:00:0c:9f:fI:ID: HSRP 2, twelve bits.
    Hsrp2,
    /// 00:07:b4:GG:GG:FF: GLBP, a group of ten bits and a forwarder.
    Glbp,
    /// 00:09:0f:09:GG:II: a `FortiGate` cluster, its group and an interface.
    FortiGate,
}

impl fmt::Display for MacKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vrrp4 => "VRRP or CARP",
            Self::Vrrp6 => "VRRP for IPv6",
            Self::Carp => "CARP",
            Self::Hsrp1 => "HSRP 1",
            Self::Hsrp2 => "HSRP 2",
            Self::Glbp => "GLBP",
            Self::FortiGate => "FortiGate",
        })
    }
}

/// A MAC address that a protocol or vendor reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VirtualMac {
    /// Protocol or vendor of the address.
    pub kind: MacKind,
    /// The id contained in the address.
    pub id: u16,
}

impl MacKind {
    /// Whether advertisements of its protocol can be parsed.
    pub(crate) fn is_read(self) -> bool {
        !matches!(self, Self::Glbp | Self::FortiGate)
    }
}

impl VirtualMac {
    /// The reserved address that `mac` is; `None` for addresses of network cards.
    pub(crate) fn of(mac: [u8; 6]) -> Option<Self> {
        let (kind, id) = match mac {
            [0x00, 0x00, 0x5E, 0x00, 0x01, id] => (MacKind::Vrrp4, u16::from(id)),
            [0x00, 0x00, 0x5E, 0x00, 0x02, id] => (MacKind::Vrrp6, u16::from(id)),
            [0x00, 0x00, 0x5E, 0x00, _, id] => (MacKind::Carp, u16::from(id)),
            [0x00, 0x00, 0x0C, 0x07, 0xAC, id] => (MacKind::Hsrp1, u16::from(id)),
            [0x00, 0x00, 0x0C, 0x9F, high @ 0xF0..=0xFF, low] => {
                (MacKind::Hsrp2, u16::from_be_bytes([high & 0x0F, low]))
            }
            // The last byte is the forwarder; a group has up to four.
            [0x00, 0x07, 0xB4, high, low, _] => (MacKind::Glbp, u16::from_be_bytes([high, low])),
            // The last byte is the virtual cluster and the interface.
            [0x00, 0x09, 0x0F, 0x09, id, _] => (MacKind::FortiGate, u16::from(id)),
            _ => return None,
        };
        Some(Self { kind, id })
    }
}

#[cfg(test)]
mod tests {
    use super::{MacKind, VirtualMac};

    #[test]
    fn the_id_is_read_from_the_address() {
        let of = |mac| VirtualMac::of(mac).map(|found| (found.kind, found.id));
        assert_eq!(of([0, 0, 0x5E, 0, 1, 7]), Some((MacKind::Vrrp4, 7)));
        assert_eq!(of([0, 0, 0x5E, 0, 3, 7]), Some((MacKind::Carp, 7)));
        assert_eq!(of([0, 0, 0x0C, 0x9F, 0xF1, 2]), Some((MacKind::Hsrp2, 258)));
        assert_eq!(of([0, 7, 0xB4, 1, 2, 3]), Some((MacKind::Glbp, 258)));
        assert_eq!(of([0, 9, 0x0F, 9, 5, 3]), Some((MacKind::FortiGate, 5)));
        assert_eq!(of([0, 0, 0x0C, 0x9F, 0xE1, 2]), None);
        assert_eq!(of([2, 0, 0x5E, 0, 1, 7]), None);
    }
}
