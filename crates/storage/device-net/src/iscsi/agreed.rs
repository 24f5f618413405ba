//! Parameters that both sides agree on before requests begin (RFC 7143, 13).

use super::text::KeyText;

/// Maximum size of a data segment that the target may send, in bytes.
pub(crate) const MOST_RECEIVED: usize = 256 << 10;
/// Proposed maximum that the target asks for at once, in bytes.
const BURST_BYTES: u32 = 256 << 10;
/// Default for the longest data segment that the target accepts, in bytes.
const DEFAULT_MOST_SENT: u32 = 8_192;
const DEFAULT_FIRST_BURST: u32 = 64 << 10;

/// The sides that authenticated themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// Neither side: the target did not require it.
    None,
    /// The initiator.
    OneWay,
    /// Initiator and target.
    Mutual,
}

/// Negotiated parameters of data transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// Maximum size of a data segment to send, in bytes.
    pub most_sent: u32,
    /// Whether data waits until the target asks for it.
    pub waits_for_request: bool,
    /// Whether data is sent with its command.
    pub is_immediate: bool,
    /// Maximum number of bytes of a command sent before the target asks.
    pub first_burst: u32,
}

impl Default for Agreed {
    fn default() -> Self {
        Self {
            most_sent: DEFAULT_MOST_SENT,
            waits_for_request: true,
            is_immediate: true,
            first_burst: DEFAULT_FIRST_BURST,
        }
    }
}

/// Whether `value` of `key` is acceptable; unknown keys are ignored.
fn is_taken(key: &str, value: &str) -> bool {
    match key {
        "HeaderDigest" | "DataDigest" => value == "None",
        "ErrorRecoveryLevel" => value == "0",
        "DataPDUInOrder" | "DataSequenceInOrder" => value == "Yes",
        _ => value != "Reject",
    }
}

impl Agreed {
    /// Our proposals.
    pub(crate) fn offer(is_discovery: bool) -> KeyText {
        let mut text = KeyText::default();
        text.set("HeaderDigest", "None");
        text.set("DataDigest", "None");
        text.set("MaxRecvDataSegmentLength", MOST_RECEIVED.to_string());
        text.set("DefaultTime2Wait", "2");
        text.set("DefaultTime2Retain", "0");
        text.set("ErrorRecoveryLevel", "0");
        if !is_discovery {
            text.set("InitialR2T", "No");
            text.set("ImmediateData", "Yes");
            text.set("MaxBurstLength", BURST_BYTES.to_string());
            text.set("FirstBurstLength", BURST_BYTES.to_string());
            text.set("MaxOutstandingR2T", "1");
            text.set("MaxConnections", "1");
            text.set("DataPDUInOrder", "Yes");
            text.set("DataSequenceInOrder", "Yes");
        }
        text
    }

    /// Records answers; fails with the key and value of one that is unacceptable.
    pub(crate) fn note(&mut self, answer: &KeyText) -> Result<(), String> {
        for (key, value) in answer.pairs() {
            let number = value.parse().ok().filter(|&number| number >= 512);
            let is_number = match (key, number) {
                ("MaxRecvDataSegmentLength", Some(number)) => {
                    self.most_sent = number;
                    true
                }
                ("FirstBurstLength", Some(number)) => {
                    self.first_burst = number;
                    true
                }
                ("MaxRecvDataSegmentLength" | "FirstBurstLength", None) => false,
                _ => is_taken(key, value),
            };
            // A target answers `Irrelevant` to keys that mean nothing in a discovery session.
            if !is_number && value != "Irrelevant" {
                return Err(format!("{key}={value}"));
            }
            match key {
                "InitialR2T" => self.waits_for_request = value == "Yes",
                "ImmediateData" => self.is_immediate = value == "Yes",
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Agreed, KeyText};

    fn noted(answer: &[u8]) -> Result<Agreed, String> {
        let mut agreed = Agreed::default();
        agreed.note(&KeyText::decode(answer).unwrap()).map(|()| agreed)
    }

    #[test]
    fn answers_are_taken_note_of() {
        let answer = b"InitialR2T=No\0ImmediateData=No\0MaxRecvDataSegmentLength=65536\0\
            FirstBurstLength=4096\0MaxBurstLength=262144\0TargetPortalGroupTag=1\0";
        let wanted = Agreed {
            most_sent: 65_536,
            waits_for_request: false,
            is_immediate: false,
            first_burst: 4_096,
        };
        assert_eq!(noted(answer), Ok(wanted));
        assert_eq!(noted(b"FirstBurstLength=Irrelevant\0"), Ok(Agreed::default()));
    }

    #[test]
    fn what_cannot_be_gone_on_with_is_named() {
        for answer in [
            "DataDigest=CRC32C",
            "HeaderDigest=Reject",
            "ErrorRecoveryLevel=2",
            "MaxRecvDataSegmentLength=7",
            "FirstBurstLength=x",
        ] {
            assert_eq!(noted(answer.as_bytes()), Err(answer.to_owned()));
        }
    }
}
