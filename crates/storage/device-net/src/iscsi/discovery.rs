//! Lists the targets of a portal, and the other portals on which each listens.

use std::io::{self, Write as _};

use super::address::IscsiPortal;
use super::error::IscsiError;
use super::login::{FIRST_COMMAND, IscsiInitiator, LoggedIn};
use super::pdu::{self, CONTINUED, FINAL, Head, NO_TAG, field, request, response};
use super::session;
use super::text::{KeyText, LONGEST_TEXT};
use crate::transport::WireStream;

/// Maximum size of a whole list, in bytes.
const LONGEST_LIST: usize = 4 << 20;

/// A target listed by a portal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredTarget {
    /// Its name.
    pub name: String,
    /// Its portals.
    pub portals: Vec<IscsiPortal>,
}

/// Asks a portal for the targets that it offers to this initiator.
pub fn discover(
    portal: &IscsiPortal,
    initiator: &IscsiInitiator,
) -> Result<Vec<DiscoveredTarget>, IscsiError> {
    let name = format!("iscsi://{portal}");
    let (mut stream, login) = session::open(portal, None, &name, initiator)?;
    let list = ask(&mut stream, login);
    let list = list.map_err(|error| IscsiError::Connection { name: name.clone(), error })?;
    let text = KeyText::decode(&list);
    let why = "its list of targets is no text".to_owned();
    Ok(targets(&text.ok_or(IscsiError::NotIscsi { name, why })?, portal))
}

/// Retrieves the whole list, and ends the session.
fn ask(stream: &mut WireStream, login: LoggedIn) -> io::Result<Vec<u8>> {
    let (mut number, mut expected) = (FIRST_COMMAND, login.expected_status);
    let (mut list, mut transfer_tag) = (Vec::new(), NO_TAG);
    loop {
        let text: &[u8] = if list.is_empty() { b"SendTargets=All\0" } else { &[] };
        let head = Head::new(request::TEXT, FINAL)
            .with(field::TASK_TAG, 1)
            .with(field::TRANSFER_TAG, transfer_tag);
        send(stream, head, number, expected, text)?;
        let head = answer(stream, response::TEXT, &mut list)?;
        (number, expected) = (number + 1, head.word(field::STATUS_NUMBER).wrapping_add(1));
        transfer_tag = head.word(field::TRANSFER_TAG);
        if !head.has(CONTINUED) && (head.has(FINAL) || transfer_tag == NO_TAG) {
            break;
        }
    }
    let head = Head::new(request::LOGOUT, FINAL).with(field::TASK_TAG, 2);
    send(stream, head, number, expected, &[])?;
    stream.shut();
    Ok(list)
}

fn send(
    stream: &mut WireStream,
    head: Head,
    number: u32,
    expected_status: u32,
    text: &[u8],
) -> io::Result<()> {
    let head = head
        .with(field::COMMAND_NUMBER, number)
        .with(field::EXPECTED_STATUS_NUMBER, expected_status);
    let mut bytes = Vec::new();
    pdu::append(&mut bytes, head, text);
    stream.write_all(&bytes)
}

/// Appends the data of the next answer with this opcode.
fn answer(stream: &mut WireStream, opcode: u8, list: &mut Vec<u8>) -> io::Result<Head> {
    loop {
        let head = pdu::read_head(stream)?;
        let data = pdu::read_data(stream, &head, LONGEST_TEXT * 4)?;
        if head.opcode() == opcode && list.len() + data.len() <= LONGEST_LIST {
            list.extend(data);
            return Ok(head);
        }
        // A target may send a ping, which the next request answers.
        if head.opcode() != response::NOP_IN {
            return Err(io::Error::other("it does not answer with its targets"));
        }
    }
}

/// The targets in a list. One without addresses listens on the portal that was asked.
pub(super) fn targets(text: &KeyText, asked: &IscsiPortal) -> Vec<DiscoveredTarget> {
    let mut targets: Vec<DiscoveredTarget> = Vec::new();
    for (key, value) in text.pairs() {
        match (key, targets.last_mut()) {
            ("TargetName", _) => {
                targets.push(DiscoveredTarget { name: value.to_owned(), portals: Vec::new() });
            }
            ("TargetAddress", Some(target)) => {
                let (portal, _group) = value.rsplit_once(',').unwrap_or((value, ""));
                target.portals.extend(IscsiPortal::parse(portal));
            }
            _ => {}
        }
    }
    for target in targets.iter_mut().filter(|target| target.portals.is_empty()) {
        target.portals.push(asked.clone());
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::{IscsiPortal, KeyText, targets};

    #[test]
    fn every_portal_of_every_target_is_listed() {
        let text = b"TargetName=iqn.a\0TargetAddress=10.0.0.1:3260,1\0TargetAddress=[::1]:9,2\0\
            TargetName=iqn.b\0";
        let asked = IscsiPortal::parse("array").unwrap();
        let found = targets(&KeyText::decode(text).unwrap(), &asked);
        let told: Vec<(&str, Vec<String>)> = found
            .iter()
            .map(|of| (of.name.as_str(), of.portals.iter().map(ToString::to_string).collect()))
            .collect();
        let portals = vec!["10.0.0.1:3260".to_owned(), "[::1]:9".to_owned()];
        assert_eq!(told, [("iqn.a", portals), ("iqn.b", vec!["array:3260".to_owned()])]);
    }
}
