//! `/proc/mdstat`: a line for each array, then its size, the number of its working devices, and
//! work in progress.

use super::super::lines::{UnreadLine, is_prompt};
use super::super::words::size_bytes;
use super::super::{Controller, ControllerError, Health, LogicalDrive, Output};
use super::{level, software, works};

/// The arrays; `None` if the text is no such output.
pub(in super::super) fn read(text: &str) -> Option<Result<Output, ControllerError>> {
    text.lines().any(|line| line.starts_with("Personalities") || array(line).is_some()).then(|| {
        let mut controller = software();
        let mut unread = Vec::new();
        let mut current: Option<String> = None;
        let mut has_end = false;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            has_end |= line.starts_with("unused devices");
            if let Some((name, facts)) = array(line) {
                current = Some(name.to_owned());
                of_array(controller.drive(name), facts);
            } else if !line.is_empty() && !has_end && !line.starts_with("Personalities") {
                let is_read =
                    current.as_ref().is_some_and(|name| of_detail(controller.drive(name), line));
                if !is_read {
                    // The following lines may belong to another array.
                    current = None;
                }
                if !is_read && !is_prompt(line) {
                    unread.push(UnreadLine { number: at + 1, text: line.to_owned() });
                }
            }
        }
        expect(&mut controller, has_end);
        Ok(Output { controllers: vec![controller], unread })
    })
}

/// `md0 : active raid1 sdb1[1] sda1[0]`.
fn array(line: &str) -> Option<(&str, &str)> {
    let (name, facts) = line.trim().split_once(" : ")?;
    let is_name = name.starts_with("md") && !name.contains(' ');
    (is_name && (facts.starts_with("active") || facts.starts_with("inactive")))
        .then_some((name, facts))
}

fn of_array(drive: &mut LogicalDrive, facts: &str) {
    drive.device = Some(format!("/dev/{}", drive.id));
    let mut words = facts.split_whitespace().filter(|word| !word.starts_with('('));
    match words.next() {
        Some("active") => {}
        other => drive.state.learn(Health::Bad(other.unwrap_or("no state").to_owned())),
    }
    if facts.contains("(read-only)") {
        drive.state.learn(Health::Bad("read-only".to_owned()));
    }
    match words.next().filter(|word| !word.contains('[')) {
        Some(word) => drive.level.learn_words(word, level(word)),
        None => drive.level.learn_words(facts, None),
    }
    let devices: Vec<&str> = words.collect();
    for device in &devices {
        if device.ends_with("(F)") {
            drive.members.learn(Health::Bad(format!("{device} has failed")));
        }
    }
    let members = devices.iter().filter(|device| !device.ends_with("(S)")).count();
    drive.disks.learn(u32::try_from(members).unwrap_or(u32::MAX));
}

/// `976630464 blocks super 1.2 512k chunks [2/2] [UU]`, a bitmap, or work in progress.
fn of_detail(drive: &mut LogicalDrive, line: &str) -> bool {
    if line.starts_with("bitmap:") {
        return true;
    }
    if ["recovery", "resync", "reshape"].iter().any(|work| line.contains(work)) {
        drive.state.learn(Health::Bad(line.to_owned()));
        return true;
    }
    if line.contains("check = ") {
        drive.state.learn(Health::Limited(line.to_owned()));
        return true;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.get(1) != Some(&"blocks") {
        return false;
    }
    for pair in words.windows(2) {
        if let [size, "chunk" | "chunks" | "chunk," | "chunks,"] = pair {
            drive.strip_bytes.learn_words(size, size_bytes(size));
        }
    }
    let brackets: Vec<&str> =
        words.iter().filter_map(|word| word.strip_prefix('[')?.strip_suffix(']')).collect();
    if let [numbers, marks] = &brackets[..] {
        drive.state.learn_words(line, works(numbers, marks, drive.disks.only().copied()));
    }
    true
}

fn expect(controller: &mut Controller, has_end: bool) {
    controller.expect(has_end, "the output", "last line, `unused devices`");
    for drive in controller.drives.clone() {
        // RAID 0 has no devices that could be missing.
        let is_striped = drive.level.only().is_some_and(|level| level == "RAID 0");
        if is_striped && !drive.state.is_told() {
            controller.drive(&drive.id).state.learn(Health::Ok);
        }
        let told = drive.state.is_told() || is_striped;
        controller.expect(told, &drive.id, "line of how many devices work");
    }
}
