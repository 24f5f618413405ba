//! The answers to PERSISTENT RESERVE IN.

use super::{Exempt, Reservations};
use crate::scsi::Sense;

/// Identifies an initiator port of iSCSI by its name and the handle of its session.
const ISCSI_PORT: u8 = 0x45;

/// Shortest name in a transport identifier, in bytes.
const SHORTEST_NAME: usize = 20;

impl Reservations {
    /// The data for the service action `action`.
    pub(crate) fn report(&self, action: u8) -> Result<Vec<u8>, Sense> {
        match action {
            0 => {
                let keys: Vec<u8> =
                    self.keys.iter().flat_map(|(_, key)| key.to_be_bytes()).collect();
                Ok(self.with_head(&keys))
            }
            1 => Ok(self.with_head(&self.reservation())),
            // Persistence is not offered; the mask of kinds is valid and lists all six.
            2 => Ok(vec![0, 8, 0, 0x80, 0xea, 0x01, 0, 0]),
            3 => {
                let all: Vec<u8> = self.keys.iter().flat_map(|known| self.status(known)).collect();
                Ok(self.with_head(&all))
            }
            _ => Err(Sense::INVALID_FIELD),
        }
    }

    fn with_head(&self, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        [&self.generation.to_be_bytes()[..], &length.to_be_bytes(), body].concat()
    }

    fn reservation(&self) -> Vec<u8> {
        let Some(held) = &self.held else { return Vec::new() };
        let key = match held.kind.exempt {
            Exempt::Holders => 0,
            _ => self.key(&held.by).unwrap_or(0),
        };
        [&key.to_be_bytes()[..], &[0; 5], &[held.kind.number(), 0, 0]].concat()
    }

    fn status(&self, (name, key): &(String, u64)) -> Vec<u8> {
        let is_holder = self.is_holder(name);
        let kind = self.held.as_ref().filter(|_| is_holder).map_or(0, |held| held.kind.number());
        let mut port = name.as_bytes().to_vec();
        port.resize((port.len() + 1).next_multiple_of(4).max(SHORTEST_NAME), 0);
        let bytes = u16::try_from(port.len()).unwrap_or(u16::MAX);
        [
            &key.to_be_bytes()[..],
            &[0; 4],
            &[u8::from(is_holder), kind, 0, 0, 0, 0, 0, 1],
            &(u32::from(bytes) + 4).to_be_bytes(),
            &[ISCSI_PORT, 0],
            &bytes.to_be_bytes(),
            &port,
        ]
        .concat()
    }
}
