//! The login: authenticates both sides, then negotiates how they communicate (RFC 7143, 6 and
//! 11.12).

use device_net::iscsi_codec::{
    CONTINUED, FINAL, Head, KeyText, binary, field, hex_value, request, response,
};

use super::{SessionStage, TargetSession, TargetStep};
use crate::unit::UnitSeat;

/// Longest challenge and longest text, in bytes.
const LONGEST_CHALLENGE: usize = 1_024;
const LONGEST_TEXT: usize = 64 << 10;
/// Longest name of an initiator, in bytes (RFC 7143, 4.2.7).
const LONGEST_NAME: usize = 223;

const SECURITY: u8 = 0;
const OPERATION: u8 = 1;
const FULL: u8 = 3;

/// Status classes and details.
const ACCEPTED: u16 = 0x0000;
const INITIATOR_ERROR: u16 = 0x0200;
const NOT_AUTHENTICATED: u16 = 0x0201;
const NO_SUCH_TARGET: u16 = 0x0203;
const MISSING_PARAMETER: u16 = 0x0207;
const NO_SUCH_SESSION: u16 = 0x020a;

/// Offset of the handle of a session with several connections.
const SESSION_HANDLE: usize = 14;

/// Progress of CHAP authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChapProof {
    /// The initiator has not named itself.
    Unnamed,
    /// It must choose an algorithm.
    Algorithm,
    /// It must answer the challenge.
    Challenged,
    Given,
}

/// See the module.
pub(super) struct Login {
    proof: ChapProof,
    challenge: [u8; 16],
    text: Vec<u8>,
}

impl Login {
    pub(super) fn new(challenge: [u8; 16]) -> Self {
        Self { proof: ChapProof::Unnamed, challenge, text: Vec::new() }
    }
}

impl TargetSession {
    pub(super) fn log_in(&mut self, head: &Head, data: &[u8]) {
        let SessionStage::Login(login) = &mut self.stage else { return };
        login.text.extend_from_slice(data);
        if head.opcode() != request::LOGIN || login.text.len() > LONGEST_TEXT {
            self.close();
        } else if head.has(CONTINUED) {
            let stage = head.0[1] >> 2 & 3;
            self.next_command = head.word(field::COMMAND_NUMBER);
            self.login_answer(head, ACCEPTED, stage << 2, &KeyText::default());
        } else {
            let text = std::mem::take(&mut login.text);
            self.next_command = head.word(field::COMMAND_NUMBER);
            match KeyText::decode(&text) {
                Some(text) => self.round(head, &text),
                None => self.refuse(head, INITIATOR_ERROR),
            }
        }
    }

    fn round(&mut self, head: &Head, text: &KeyText) {
        let SessionStage::Login(login) = &self.stage else { return };
        let proof = login.proof;
        if proof == ChapProof::Unnamed
            && let Err(status) = self.name(head, text)
        {
            return self.refuse(head, status);
        }
        let needs_proof = self.offer().is_some_and(|offer| offer.account.is_some());
        match (head.0[1] >> 2 & 3, proof) {
            (SECURITY, ChapProof::Unnamed | ChapProof::Algorithm | ChapProof::Challenged)
                if needs_proof =>
            {
                self.prove(head, proof, text);
            }
            (SECURITY, _) => {
                let mut answer = KeyText::default();
                if text.get("AuthMethod").is_some() {
                    answer.set("AuthMethod", "None");
                }
                self.accept(head, OPERATION, answer);
            }
            (OPERATION, ChapProof::Given) => self.operate(head, text),
            (OPERATION, _) if !needs_proof => self.operate(head, text),
            _ => self.refuse(head, NOT_AUTHENTICATED),
        }
    }

    /// Handles the first text, which names both sides.
    fn name(&mut self, head: &Head, text: &KeyText) -> Result<(), u16> {
        let name = text.get("InitiatorName").ok_or(MISSING_PARAMETER)?;
        if name.len() > LONGEST_NAME {
            return Err(INITIATOR_ERROR);
        }
        if head.0[SESSION_HANDLE..][..2] != [0, 0] {
            return Err(NO_SUCH_SESSION);
        }
        self.initiator = format!("{name},i,{}", hex_value(&head.0[8..14]));
        self.is_discovery = text.get("SessionType") == Some("Discovery");
        if self.is_discovery {
            return Ok(());
        }
        let target = text.get("TargetName").ok_or(MISSING_PARAMETER)?;
        let found = self.offers.iter().position(|offer| offer.name == target);
        self.target = Some(found.ok_or(NO_SUCH_TARGET)?);
        Ok(())
    }

    fn set_proof(&mut self, proof: ChapProof) {
        if let SessionStage::Login(login) = &mut self.stage {
            login.proof = proof;
        }
    }

    fn prove(&mut self, head: &Head, proof: ChapProof, text: &KeyText) {
        let SessionStage::Login(login) = &self.stage else { return };
        let challenge = login.challenge;
        let mut answer = KeyText::default();
        match proof {
            ChapProof::Unnamed if offers(text, "AuthMethod", "CHAP") => {
                answer.set("AuthMethod", "CHAP");
                answer.set("TargetPortalGroupTag", "1");
                self.set_proof(ChapProof::Algorithm);
            }
            ChapProof::Algorithm if offers(text, "CHAP_A", "5") => {
                answer.set("CHAP_A", "5");
                answer.set("CHAP_I", challenge[0].to_string());
                answer.set("CHAP_C", hex_value(&challenge));
                self.set_proof(ChapProof::Challenged);
            }
            ChapProof::Challenged => match self.checked_proof(challenge, text) {
                Some(answer) => {
                    self.set_proof(ChapProof::Given);
                    return self.accept(head, OPERATION, answer);
                }
                None => return self.refuse(head, NOT_AUTHENTICATED),
            },
            _ => return self.refuse(head, NOT_AUTHENTICATED),
        }
        self.login_answer(head, ACCEPTED, SECURITY << 2, &answer);
    }

    /// The target's own proof, if requested; `None` if the initiator's is wrong.
    fn checked_proof(&self, challenge: [u8; 16], text: &KeyText) -> Option<KeyText> {
        let offer = self.offer()?;
        let account = offer.account.as_ref()?;
        let given = text.get("CHAP_R").and_then(binary)?;
        let wanted = account.secret.answer(challenge[0], &challenge);
        if text.get("CHAP_N") != Some(&account.user) || given != wanted {
            return None;
        }
        let mut answer = KeyText::default();
        if let Some(asked) = text.get("CHAP_C") {
            let identifier = text.get("CHAP_I")?.parse().ok()?;
            let asked = binary(asked).filter(|bytes| bytes.len() <= LONGEST_CHALLENGE)?;
            // Answering the target's own challenge would give the initiator the proof it needs.
            let secret = account.target_secret.as_ref().filter(|_| asked != challenge)?;
            answer.set("CHAP_N", &offer.name);
            answer.set("CHAP_R", hex_value(&secret.answer(identifier, &asked)));
        }
        Some(answer)
    }

    fn operate(&mut self, head: &Head, text: &KeyText) {
        let answer = self.agreed.answer(text);
        self.accept(head, FULL, answer);
    }

    /// Accepts, and moves to `next` if the initiator wants to.
    fn accept(&mut self, head: &Head, next: u8, mut answer: KeyText) {
        let stage = head.0[1] >> 2 & 3;
        let wanted = head.0[1] & 3;
        let moves = head.has(FINAL) && (wanted == next || wanted == FULL);
        if self.set_group() && !self.is_discovery {
            answer.set("TargetPortalGroupTag", "1");
        }
        let flags = stage << 2 | if moves { FINAL | wanted } else { 0 };
        self.login_answer(head, ACCEPTED, flags, &answer);
        if moves && wanted == FULL {
            let seat = self.offer().map(|offer| UnitSeat::new(&offer.unit, &self.initiator));
            self.seat = seat;
            self.stage = SessionStage::Full;
        }
    }

    /// Ends the authentication; `true` in the first accepted round.
    fn set_group(&mut self) -> bool {
        let SessionStage::Login(login) = &mut self.stage else { return false };
        let is_first = login.proof == ChapProof::Unnamed;
        login.proof = ChapProof::Given;
        is_first
    }

    fn refuse(&mut self, head: &Head, status: u16) {
        self.login_answer(head, status, 0, &KeyText::default());
        self.close();
    }

    fn login_answer(&mut self, head: &Head, status: u16, flags: u8, text: &KeyText) {
        let mut answer = self.numbered(Head::new(response::LOGIN, flags), head);
        answer.0[8..14].copy_from_slice(&head.0[8..14]);
        if flags & FINAL != 0 && flags & 3 == FULL {
            answer.0[15] = 1; // The session's handle: a connection is a session.
        }
        answer.0[36..38].copy_from_slice(&status.to_be_bytes());
        let mut bytes = Vec::new();
        device_net::iscsi_codec::append(&mut bytes, answer, &text.encode());
        self.steps.push(TargetStep::Send(bytes));
    }
}

/// Whether `wanted` is among the values of a key.
fn offers(text: &KeyText, key: &str, wanted: &str) -> bool {
    text.get(key).is_some_and(|list| list.split(',').any(|one| one == wanted))
}
