//! Linux software RAID: `mdadm --detail /dev/mdN` and `/proc/mdstat`. There is no controller and no
//! cache, so only arrays are reported.

mod status;

use super::lines::{OutputLine, lines, must_be_shown};
use super::words::size_bytes;
use super::{Controller, ControllerError, Health, LogicalDrive, Output, Tool};

pub(super) use status::read as read_status;

/// The arrays of `mdadm --detail`; `None` if the text is no such output.
pub(super) fn read_detail(text: &str) -> Option<Result<Output, ControllerError>> {
    text.lines().any(|line| array_name(line).is_some()).then(|| {
        let mut parser = MdadmParser { controller: software(), ..MdadmParser::default() };
        let mut unread = Vec::new();
        for line in lines(text, begins) {
            if !parser.take(&line) && must_be_shown(&line) {
                unread.push(line.unread());
            }
        }
        parser.end_array();
        Ok(Output { controllers: vec![parser.controller], unread })
    })
}

/// Whether a line without a colon belongs to the table of devices.
fn begins(line: &OutputLine) -> bool {
    line.key.starts_with("number major minor")
        || line.key.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// The substitute for a controller.
fn software() -> Controller {
    let mut controller = Controller::new(Tool::Mdadm, None);
    "software RAID of Linux".clone_into(&mut controller.model);
    controller
}

/// `/dev/md0:`.
fn array_name(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_suffix(':')?;
    (name.starts_with("/dev/md") && !name.contains(' ')).then_some(name)
}

#[derive(Default)]
struct MdadmParser {
    controller: Controller,
    name: Option<String>,
    drive: LogicalDrive,
    raid_devices: Option<u32>,
    active_devices: Option<u32>,
    /// Rows of working devices, each once.
    rows: Vec<String>,
    has_failed_count: bool,
    has_state: bool,
}

impl MdadmParser {
    fn take(&mut self, line: &OutputLine) -> bool {
        if let Some(name) = array_name(&line.text) {
            self.end_array();
            self.name = Some(name.to_owned());
            return true;
        }
        if line.is_pair { self.of_pair(line) } else { self.of_row(line) }
    }

    fn of_pair(&mut self, line: &OutputLine) -> bool {
        let (drive, value) = (&mut self.drive, line.value.as_str());
        match line.key.as_str() {
            "raid level" => drive.level.learn_words(value, level(value)),
            "chunk size" => drive.strip_bytes.learn_words(value, size_bytes(value)),
            "raid devices" => {
                self.raid_devices = value.parse().ok();
                drive.disks.learn_words(value, self.raid_devices);
            }
            "active devices" => self.active_devices = value.parse().ok(),
            "failed devices" => {
                self.has_failed_count = true;
                drive.state.learn_words(value, super::words::errors(value, "failed devices"));
            }
            "state" => {
                self.has_state = true;
                value.split(',').map(str::trim).for_each(|word| {
                    drive.state.learn_words(word, state(word));
                });
            }
            key if key.ends_with(" status") && value.contains("complete") => {
                drive.state.learn(Health::Bad(line.text.clone()));
            }
            _ => return false,
        }
        true
    }

    /// `0  8  1  0  active sync  /dev/sda1`; `removed`; `faulty`.
    fn of_row(&mut self, line: &OutputLine) -> bool {
        if line.key.starts_with("number major minor") {
            return true;
        }
        let is_row = line.key.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let words: Vec<&str> = line.key.split(' ').collect();
        if is_row && words.contains(&"active") && words.contains(&"sync") {
            let device = line.key.rsplit(' ').next().unwrap_or_default().to_owned();
            if !self.rows.contains(&device) {
                self.rows.push(device);
            }
        } else if is_row && !words.contains(&"spare") {
            self.drive.state.learn(Health::Bad(line.text.clone()));
        }
        is_row
    }

    fn end_array(&mut self) {
        let ended = std::mem::take(self);
        self.controller = ended.controller;
        let Some(name) = ended.name else {
            return;
        };
        let mut drive =
            LogicalDrive { device: Some(name.clone()), id: name.clone(), ..ended.drive };
        if let (Some(wanted), Some(active)) = (ended.raid_devices, ended.active_devices)
            && active < wanted
        {
            drive.state.learn(Health::Bad(format!("{active} of {wanted} devices are active")));
        }
        for (is_told, what) in [
            (drive.level.is_told(), "Raid Level"),
            (ended.has_state && ended.has_failed_count, "State or Failed Devices"),
            (ended.raid_devices.is_some(), "Raid Devices"),
            (ended.active_devices.is_some(), "Active Devices"),
            (
                ended.raid_devices.is_some_and(|wanted| wanted as usize == ended.rows.len()),
                "row for each of its devices",
            ),
        ] {
            self.controller.expect(is_told, &name, what);
        }
        self.controller.drive(&name).learn(drive);
    }
}

fn state(word: &str) -> Option<Health> {
    match word.to_ascii_lowercase().as_str() {
        "clean" | "active" | "active-idle" | "write-pending" => Some(Health::Ok),
        "checking" | "resyncing (delayed)" => Some(Health::Limited(word.to_owned())),
        "degraded" | "failed" | "recovering" | "resyncing" | "reshaping" | "not started"
        | "inactive" | "broken" | "read-only" => Some(Health::Bad(word.to_owned())),
        _ => None,
    }
}

/// Health from the counts and marks, such as `2/2` and `UU`; `None` if they contradict each other.
fn works(numbers: &str, marks: &str, devices: Option<u32>) -> Option<Health> {
    let (wanted, working) = numbers.split_once('/')?;
    let (wanted, working): (u32, u32) = (wanted.parse().ok()?, working.parse().ok()?);
    if working < wanted || marks.contains('_') {
        return Some(Health::Bad(format!("degraded: [{numbers}] [{marks}]")));
    }
    let is_whole = marks.len() == wanted as usize && marks.chars().all(|mark| mark == 'U');
    (is_whole && devices == Some(wanted)).then_some(Health::Ok)
}

/// `raid1`, `raid10`; `linear` has no level.
fn level(word: &str) -> Option<String> {
    let digits = word.strip_prefix("raid")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("RAID {digits}"))
}

#[cfg(test)]
mod tests;
