//! Negotiates data transfer: the answers to an initiator's proposals (RFC 7143, 13).

use device_net::iscsi_codec::KeyText;

use super::MOST_DATA;

/// Proposed limit for the data transferred by one request for data.
const MOST_BURST: u32 = 256 << 10;
const DEFAULT_FIRST_BURST: u32 = 64 << 10;

/// Negotiated parameters of data transfer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NegotiatedKeys {
    /// Longest data segment that the initiator accepts.
    pub(super) most_sent: usize,
    pub(super) burst: u32,
    pub(super) first_burst: u32,
}

impl Default for NegotiatedKeys {
    fn default() -> Self {
        Self { most_sent: 8_192, burst: MOST_BURST, first_burst: DEFAULT_FIRST_BURST }
    }
}

impl NegotiatedKeys {
    /// Answers every proposal of `asked`.
    pub(super) fn answer(&mut self, asked: &KeyText) -> KeyText {
        let mut answer = KeyText::default();
        for (key, value) in asked.pairs() {
            if let Some(value) = self.value(key, value) {
                answer.set(key, value);
            }
        }
        answer
    }

    /// The answer to one proposal; `None` to a declaration.
    fn value(&mut self, key: &str, value: &str) -> Option<String> {
        let number = value.parse::<u32>().ok().filter(|number| *number >= 512);
        let text = match key {
            "InitiatorName" | "InitiatorAlias" | "SessionType" | "TargetName" | "AuthMethod" => {
                return None;
            }
            "HeaderDigest" | "DataDigest" => "None",
            "ErrorRecoveryLevel" | "DefaultTime2Retain" => "0",
            "DefaultTime2Wait" => {
                return Some(value.parse::<u32>().unwrap_or(2).max(2).to_string());
            }
            // Data may come with its command if both sides want it to.
            "ImmediateData" => return Some(value.to_owned()),
            "InitialR2T" | "DataPDUInOrder" | "DataSequenceInOrder" => "Yes",
            "MaxOutstandingR2T" | "MaxConnections" => "1",
            "MaxRecvDataSegmentLength" => {
                self.most_sent = number.map_or(self.most_sent, |number| number as usize);
                return Some(MOST_DATA.to_string());
            }
            "MaxBurstLength" => {
                self.burst = number?.min(MOST_BURST);
                return Some(self.burst.to_string());
            }
            "FirstBurstLength" => {
                self.first_burst = number?.min(DEFAULT_FIRST_BURST);
                return Some(self.first_burst.to_string());
            }
            _ => "NotUnderstood",
        };
        Some(text.to_owned())
    }
}
