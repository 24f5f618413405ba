//! The login: first authentication, then negotiation of parameters (RFC 7143, 6 and 11.12).

use std::io::{self, Read, Write};

use super::address::IscsiPortal;
use super::agreed::{Agreed, Authentication};
use super::chap::ChapLogin;
use super::error::IscsiError;
use super::nonce::SessionNonce;
use super::pdu::{self, CONTINUED, FINAL, Head, IMMEDIATE, field, request, response};
use super::status::LoginStatus;
use super::text::{KeyText, LONGEST_TEXT, binary, hex_value};

/// Maximum number of rounds before a negotiation is abandoned.
const MOST_ROUNDS: usize = 16;

/// Maximum length of a challenge in bytes.
const LONGEST_CHALLENGE: usize = 1_024;

/// Number of the first command.
pub(crate) const FIRST_COMMAND: u32 = 1;

/// Stages of a login, as its flags number them.
const SECURITY: u8 = 0;
const OPERATION: u8 = 1;
const FULL: u8 = 3;

/// Name and credentials to log in with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IscsiInitiator {
    /// Its name, as in the access rules of the target: `iqn....`.
    pub name: String,
    /// Account and secret, in case the target requires them.
    pub chap: Option<ChapLogin>,
}

/// Parameters of a login.
pub(crate) struct LoginOrder<'a> {
    /// Name of the LUN or portal in errors.
    pub name: &'a str,
    pub initiator: &'a IscsiInitiator,
    /// The target; `None` to only list the targets.
    pub target: Option<&'a str>,
    pub nonce: SessionNonce,
}

/// Outcome of a login.
pub(crate) enum LoginEnd {
    Done(LoggedIn),
    /// The target is at another portal.
    Moved(IscsiPortal),
}

/// A completed login: agreed parameters and the sequence numbers to continue with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedIn {
    pub agreed: Agreed,
    pub authentication: Authentication,
    /// Number that the next status must have.
    pub expected_status: u32,
    /// Highest number that a command may have.
    pub last_command: u32,
}

/// Logs in over a fresh connection.
pub(crate) fn log_in(
    stream: &mut (impl Read + Write),
    order: &LoginOrder<'_>,
) -> Result<LoginEnd, IscsiError> {
    let mut talk = LoginTalk { stream, order, expected_status: 0, last_command: FIRST_COMMAND };
    let authentication = match talk.identify()? {
        Identified::As(authentication) => authentication,
        Identified::Elsewhere(portal) => return Ok(LoginEnd::Moved(portal)),
    };
    let agreed = talk.agree()?;
    let LoginTalk { expected_status, last_command, .. } = talk;
    Ok(LoginEnd::Done(LoggedIn { agreed, authentication, expected_status, last_command }))
}

/// Outcome of the first stage.
enum Identified {
    As(Authentication),
    Elsewhere(IscsiPortal),
}

/// The target's side of one round.
struct LoginAnswer {
    status: LoginStatus,
    /// Whether the next stage begins.
    is_over: bool,
    text: KeyText,
}

struct LoginTalk<'a, S> {
    stream: &'a mut S,
    order: &'a LoginOrder<'a>,
    expected_status: u32,
    last_command: u32,
}

impl<S: Read + Write> LoginTalk<'_, S> {
    fn broken(&self, error: io::Error) -> IscsiError {
        IscsiError::Connection { name: self.order.name.to_owned(), error }
    }

    fn not_iscsi(&self, why: &str) -> IscsiError {
        IscsiError::NotIscsi { name: self.order.name.to_owned(), why: why.to_owned() }
    }

    /// The first stage, authentication.
    fn identify(&mut self) -> Result<Identified, IscsiError> {
        let chap = self.order.initiator.chap.as_ref();
        let needs_proof = self.needs_proof();
        let methods = match chap {
            None => "None",
            Some(_) if needs_proof => "CHAP",
            Some(_) => "CHAP,None",
        };
        let mut text = KeyText::default();
        text.set("InitiatorName", &self.order.initiator.name);
        let kind = if self.order.target.is_some() { "Normal" } else { "Discovery" };
        text.set("SessionType", kind);
        if let Some(target) = self.order.target {
            text.set("TargetName", target);
        }
        text.set("AuthMethod", methods);
        let is_last = chap.is_none();
        let answer = self.exchange(SECURITY, is_last.then_some(OPERATION), &text)?;
        if answer.status == LoginStatus::Moved {
            return self.elsewhere(&answer.text).map(Identified::Elsewhere);
        }
        let answer = self.accepted(answer)?;
        let Some(chap) = chap else {
            if answer.is_over {
                return Ok(Identified::As(Authentication::None));
            }
            return Err(IscsiError::UserNeeded { name: self.order.name.to_owned() });
        };
        if answer.text.get("AuthMethod") == Some("CHAP") {
            return self.prove(chap).map(Identified::As);
        }
        if needs_proof {
            return Err(self.wrong_target("it does without authentication"));
        }
        if !answer.is_over {
            let answer = self.exchange(SECURITY, Some(OPERATION), &KeyText::default())?;
            self.accepted(answer)?;
        }
        Ok(Identified::As(Authentication::None))
    }

    /// Whether the target must authenticate itself. A listing needs no proof: each target provides
    /// it at its own login.
    fn needs_proof(&self) -> bool {
        let chap = self.order.initiator.chap.as_ref();
        self.order.target.is_some() && chap.is_some_and(|chap| chap.target_secret.is_some())
    }

    fn wrong_target(&self, why: &'static str) -> IscsiError {
        IscsiError::WrongTarget { name: self.order.name.to_owned(), why }
    }

    fn elsewhere(&self, text: &KeyText) -> Result<IscsiPortal, IscsiError> {
        let address = text.get("TargetAddress").and_then(|address| {
            let (portal, _group) = address.split_once(',').unwrap_or((address, ""));
            IscsiPortal::parse(portal)
        });
        address.ok_or_else(|| self.not_iscsi("it has moved and does not say where to"))
    }

    /// Authenticates us, and the target if `chap` asks for it.
    fn prove(&mut self, chap: &ChapLogin) -> Result<Authentication, IscsiError> {
        let mut text = KeyText::default();
        text.set("CHAP_A", "5");
        let answer = self.exchange(SECURITY, None, &text)?;
        let asked = self.accepted(answer)?.text;
        if let Some(other) = asked.get("CHAP_A").filter(|&algorithm| algorithm != "5") {
            let (name, key) = (self.order.name.to_owned(), format!("CHAP_A={other}"));
            return Err(IscsiError::Disagreed { name, key });
        }
        let identifier: Option<u8> = asked.get("CHAP_I").and_then(|number| number.parse().ok());
        let challenge = asked.get("CHAP_C").and_then(binary);
        let (Some(identifier), Some(challenge)) =
            (identifier, challenge.filter(|bytes| bytes.len() <= LONGEST_CHALLENGE))
        else {
            return Err(self.not_iscsi("it asks for CHAP and gives no challenge"));
        };
        let mut text = KeyText::default();
        text.set("CHAP_N", &chap.user);
        text.set("CHAP_R", hex_value(&chap.secret.answer(identifier, &challenge)));
        let nonce = self.order.nonce;
        let target_secret = chap.target_secret.as_ref().filter(|_| self.needs_proof());
        if target_secret.is_some() {
            text.set("CHAP_I", nonce.identifier().to_string());
            text.set("CHAP_C", hex_value(nonce.challenge()));
        }
        let answer = self.exchange(SECURITY, Some(OPERATION), &text)?;
        let proof = self.accepted(answer)?;
        let Some(secret) = target_secret else {
            return Ok(Authentication::OneWay);
        };
        let wanted = secret.answer(nonce.identifier(), nonce.challenge());
        match proof.text.get("CHAP_R").and_then(binary) {
            None => Err(self.wrong_target("it gives no answer to the challenge")),
            Some(answer) if answer != wanted => {
                Err(self.wrong_target("its answer is not that of the secret"))
            }
            // With equal challenges, the proof would be the initiator's own answer sent back.
            Some(_) if challenge == nonce.challenge() => {
                Err(self.wrong_target("it sends our own challenge back"))
            }
            Some(_) => Ok(Authentication::Mutual),
        }
    }

    /// The second stage, negotiation of parameters.
    fn agree(&mut self) -> Result<Agreed, IscsiError> {
        let mut agreed = Agreed::default();
        let mut text = Agreed::offer(self.order.target.is_none());
        for _ in 0..MOST_ROUNDS {
            let answer = self.exchange(OPERATION, Some(FULL), &text)?;
            let answer = self.accepted(answer)?;
            agreed
                .note(&answer.text)
                .map_err(|key| IscsiError::Disagreed { name: self.order.name.to_owned(), key })?;
            if answer.is_over {
                return Ok(agreed);
            }
            text = KeyText::default();
        }
        Err(self.not_iscsi("its login has no end"))
    }

    /// The answer, or an error if it is a refusal.
    fn accepted(&self, answer: LoginAnswer) -> Result<LoginAnswer, IscsiError> {
        let name = self.order.name.to_owned();
        match (answer.status, &self.order.initiator.chap) {
            (LoginStatus::Accepted, _) => Ok(answer),
            (LoginStatus::Moved, _) => Err(self.not_iscsi("it moves in the middle of a login")),
            (LoginStatus::NotAuthenticated, None) => Err(IscsiError::UserNeeded { name }),
            (LoginStatus::NotAuthenticated, Some(chap)) => {
                Err(IscsiError::WrongSecret { name, user: chap.user.clone() })
            }
            (LoginStatus::NotAdmitted(why), _) => {
                Err(IscsiError::Refused { name, why, is_for_rules: true })
            }
            (LoginStatus::Refused(why), _) => {
                Err(IscsiError::Refused { name, why, is_for_rules: false })
            }
        }
    }

    /// Performs one round; `next` is the requested stage.
    fn exchange(
        &mut self,
        stage: u8,
        next: Option<u8>,
        text: &KeyText,
    ) -> Result<LoginAnswer, IscsiError> {
        let flags = stage << 2 | next.map_or(0, |next| FINAL | next);
        self.send(flags, &text.encode())?;
        let mut bytes = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let head = self.receive(&mut bytes)?;
            let status = LoginStatus::of(head.0[36], head.0[37]);
            if status == LoginStatus::Accepted && head.has(CONTINUED) {
                self.send(stage << 2, &[])?;
                continue;
            }
            let text = KeyText::decode(&bytes);
            let text = text.ok_or_else(|| self.not_iscsi("its answer is no text"))?;
            return Ok(LoginAnswer { status, is_over: head.has(FINAL), text });
        }
        Err(self.not_iscsi("its answer has no end"))
    }

    fn send(&mut self, flags: u8, data: &[u8]) -> Result<(), IscsiError> {
        let mut head = Head::new(request::LOGIN | IMMEDIATE, flags)
            .with(field::COMMAND_NUMBER, FIRST_COMMAND)
            .with(field::EXPECTED_STATUS_NUMBER, self.expected_status);
        head.0[8..14].copy_from_slice(&self.order.nonce.session());
        let mut bytes = Vec::new();
        pdu::append(&mut bytes, head, data);
        self.stream.write_all(&bytes).map_err(|error| self.broken(error))
    }

    /// Appends the data of the next answer to `bytes`.
    fn receive(&mut self, bytes: &mut Vec<u8>) -> Result<Head, IscsiError> {
        let head = pdu::read_head(self.stream).map_err(|error| self.broken(error))?;
        if head.opcode() != response::LOGIN {
            return Err(self.not_iscsi("its answer to a login is none"));
        }
        let data = pdu::read_data(self.stream, &head, LONGEST_TEXT);
        bytes.extend(data.map_err(|error| self.broken(error))?);
        self.expected_status = head.word(field::STATUS_NUMBER).wrapping_add(1);
        self.last_command = head.word(field::LAST_COMMAND_NUMBER);
        Ok(head)
    }
}
