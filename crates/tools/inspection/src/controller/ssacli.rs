//! Text of ssacli (hpssacli, hpacucli): `ctrl all show config detail` and `ctrl all show status`,
//! nested by indentation, and the short form `ctrl all show config`, with the state of each part in
//! brackets. Lines wrapped by the terminal start at the left margin, where otherwise only
//! controllers start.

mod detail;
mod short;

use super::lines::{OutputLine, UnreadLine, lines, must_be_shown};
use super::{Controller, ControllerError, Output, Tool};

/// The controllers of an output; `None` if the text is no such output.
pub(super) fn read(text: &str) -> Option<Result<Output, ControllerError>> {
    text.lines().any(|line| slot(line.trim_end()).is_some()).then(|| {
        let mut parser = SsacliParser::default();
        for line in lines(text, |line| line.indent > 0 && begins(line) || slot_of(line).is_some()) {
            if !parser.take(&line) && must_be_shown(&line) && !parser.controllers.is_empty() {
                parser.unread.push(line.unread());
            }
        }
        parser.end_controller();
        if parser.controllers.is_empty() {
            return Err(ControllerError::Empty(Tool::Ssacli));
        }
        Ok(Output { controllers: parser.controllers, unread: parser.unread })
    })
}

/// The model and the slot in the line that begins a controller: `Smart Array P822 in Slot 2`.
fn slot(line: &str) -> Option<(&str, &str)> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let (model, rest) = line.split_once(" in Slot ")?;
    let slot = rest.split_whitespace().next()?;
    slot.bytes().next()?.is_ascii_digit().then_some((model, slot))
}

fn slot_of(line: &OutputLine) -> Option<(&str, &str)> {
    (line.indent == 0).then(|| slot(&line.text)).flatten()
}

/// The part of a controller that the lines describe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum SsacliPart {
    #[default]
    Controller,
    Array,
    /// By its number.
    Drive(String),
    /// By its place.
    Disk(String),
    Other,
}

/// The part that a line begins.
fn part_of(line: &OutputLine) -> Option<SsacliPart> {
    let first = line.text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if line.is_pair {
        return match line.key.as_str() {
            "logical drive" => Some(SsacliPart::Drive(line.value.clone())),
            "array" => Some(SsacliPart::Array),
            _ if first == "port" && line.key == "port name" => Some(SsacliPart::Other),
            _ => None,
        };
    }
    match first.as_str() {
        "physicaldrive" if !line.text.contains('(') => Some(SsacliPart::Disk(second(&line.text))),
        "unassigned" | "enclosure" | "expander" | "sep" | "hba" => Some(SsacliPart::Other),
        "physical" if line.key == "physical drives" => Some(SsacliPart::Other),
        _ => None,
    }
}

fn second(text: &str) -> String {
    text.split_whitespace().nth(1).unwrap_or_default().to_owned()
}

/// Whether a line without a colon has a known form, and does not continue the line before.
fn begins(line: &OutputLine) -> bool {
    let first = line.key.split(' ').next().unwrap_or_default();
    let is_named =
        ["physicaldrive", "logicaldrive", "array", "spare", "internal", "mirror", "parity"];
    part_of(line).is_some() || is_named.contains(&first)
}

#[derive(Default)]
struct SsacliParser {
    controllers: Vec<Controller>,
    part: SsacliPart,
    unread: Vec<UnreadLine>,
    /// Drives of the array being read, and its disks without spares, as the short form lists them.
    array: short::ShortArray,
}

impl SsacliParser {
    /// Processes a line; returns whether it was understood.
    fn take(&mut self, line: &OutputLine) -> bool {
        if let Some((model, slot)) = slot_of(line) {
            self.end_controller();
            self.part = SsacliPart::Controller;
            let mut controller = Controller::new(Tool::Ssacli, Some(slot));
            model.clone_into(&mut controller.model);
            controller.serial = short::serial(&line.text);
            self.controllers.push(controller);
            return true;
        }
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        if let Some(part) = part_of(line) {
            self.part = part;
            if let SsacliPart::Drive(id) = &self.part {
                controller.drive(id);
            }
            if matches!(self.part, SsacliPart::Array | SsacliPart::Other) {
                self.end_array();
            }
            return true;
        }
        match &self.part {
            _ if short::is_one(line) => self.of_short(line),
            SsacliPart::Controller => detail::of_controller(controller, line),
            SsacliPart::Array => detail::of_array(controller, line),
            SsacliPart::Drive(id) => detail::of_drive(controller.drive(id), line),
            SsacliPart::Disk(place) => detail::of_disk(controller.disk(place), line),
            SsacliPart::Other => true,
        }
    }

    /// Adds facts stated for all drives at once, and the gaps of each drive.
    fn end_controller(&mut self) {
        self.end_array();
        let Some(controller) = self.controllers.last_mut() else {
            return;
        };
        let policy = controller.disk_caches.clone();
        controller.drives.iter_mut().for_each(|drive| drive.disk_caches.merge(policy.clone()));
        detail::expect(controller);
    }
}

#[cfg(test)]
mod tests;
