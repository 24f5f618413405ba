//! Text of arcconf: `getconfig N`. Headings between lines of dashes start the parts; single lines
//! start logical devices and disks. Releases differ: headings in capitals or small letters, drive
//! for device, and six names for the battery.

mod device;
mod section;

use super::lines::{OutputLine, evened, lines, must_be_shown};
use super::words::{
    backup, cache_health, disk_caches, errors, health, percent, size_bytes, switch,
};
use super::{CacheBackup, Controller, ControllerError, Output, Tool};
use section::ArcconfSection;

/// The controller in an arcconf output; `None` if the text is no such output.
pub(super) fn read(text: &str) -> Option<Result<Output, ControllerError>> {
    text.lines().any(is_one).then(|| {
        let mut parser = ArcconfParser {
            controller: Controller::new(Tool::Arcconf, number(text)),
            ..ArcconfParser::default()
        };
        let mut unread = Vec::new();
        for line in lines(text, |line| section::of(line).is_some() || part_of(line).is_some()) {
            if !parser.take(&line) && must_be_shown(&line) && !is_plain(&line) {
                unread.push(line.unread());
            }
        }
        let controller = parser.end();
        if controller.model.is_empty() && controller.drives.is_empty() {
            return Err(ControllerError::Empty(Tool::Arcconf));
        }
        Ok(Output { controllers: vec![controller], unread })
    })
}

fn is_one(line: &str) -> bool {
    let line = evened(line);
    matches!(line.as_str(), "controller information" | "logical device information")
        || line.starts_with("controllers found:")
}

/// Lines of known form without useful content.
fn is_plain(line: &OutputLine) -> bool {
    let starts = [
        "device is a",
        "array number",
        "lane #",
        "command completed",
        "phy #",
        "connector #",
        "channel #",
        "enclosure #",
        "no logical",
        "no physical",
        "temperature sensor",
        "controllers found",
    ];
    starts.iter().any(|start| line.key.starts_with(start))
}

/// The number under which the command addressed the controller. The output lacks it, but a saved
/// command line before the output has it, and a single controller has number 1.
fn number(text: &str) -> Option<&str> {
    let mut asked: Vec<&str> = text.lines().filter_map(of_command).collect();
    asked.dedup();
    if let [number] = asked[..] {
        return Some(number);
    }
    let found = text.lines().find_map(|line| {
        let (name, number) = line.split_once(':')?;
        (evened(name) == "controllers found").then(|| number.trim())
    });
    (found == Some("1") && asked.is_empty()).then_some("1")
}

/// The number in `arcconf getconfig 2 al`.
fn of_command(line: &str) -> Option<&str> {
    let small = line.to_ascii_lowercase();
    let at = small.find("getconfig ").filter(|_| small.contains("arcconf"))?;
    let number = line[at + "getconfig ".len()..].split_whitespace().next()?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// Parts of a section.
enum ArcconfPart {
    Drive(String),
    Disk(String),
}

/// `Logical device number 0`, `Logical Drive number 1`; `Device #3`.
fn part_of(line: &OutputLine) -> Option<ArcconfPart> {
    if line.is_pair {
        return None;
    }
    let key = line.key.as_str();
    let drive = key
        .strip_prefix("logical device number")
        .or_else(|| key.strip_prefix("logical drive number"))
        .and_then(digits);
    let disk = key.strip_prefix("device #").and_then(digits);
    drive.map(ArcconfPart::Drive).or(disk.map(ArcconfPart::Disk))
}

fn digits(rest: &str) -> Option<String> {
    let number = rest.trim().to_owned();
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(number)
}

#[derive(Default)]
struct ArcconfParser {
    controller: Controller,
    section: ArcconfSection,
    drive: Option<device::ArcconfDrive>,
    disk: Option<String>,
    /// Number of logical drives as counted by the controller.
    counted: Option<usize>,
    /// Whether there is a section on the disks' caches.
    has_policy: bool,
}

impl ArcconfParser {
    fn take(&mut self, line: &OutputLine) -> bool {
        if let Some(part) = part_of(line) {
            match part {
                ArcconfPart::Drive(id) => {
                    self.end_drive();
                    self.controller.drive(&id);
                    self.section = ArcconfSection::Drive;
                    self.drive = Some(device::ArcconfDrive::new(id));
                }
                ArcconfPart::Disk(number) => self.disk = Some(format!("device {number}")),
            }
            return true;
        }
        if let Some(section) = section::of(line) {
            self.section = section.after(self.section);
            self.has_policy |= section == ArcconfSection::DiskPolicy;
            return true;
        }
        match self.section {
            ArcconfSection::Backup => self.of_backup(line),
            ArcconfSection::Cache => self.of_cache(line) || self.of_controller(line),
            ArcconfSection::DiskPolicy => self.of_disk_policy(line),
            ArcconfSection::Arrays => self.of_array(line),
            ArcconfSection::Drive | ArcconfSection::Segments => {
                self.drive.as_mut().is_some_and(|drive| drive.take(line))
            }
            ArcconfSection::Disks => self.of_disk(line),
            ArcconfSection::Controller | ArcconfSection::Other => self.of_controller(line),
        }
    }

    fn of_controller(&mut self, line: &OutputLine) -> bool {
        let (controller, value) = (&mut self.controller, line.value.as_str());
        match line.key.as_str() {
            "controller model" => value.clone_into(&mut controller.model),
            "controller serial number" => controller.serial = Some(value.to_owned()),
            "controller status" => controller.status.learn_words(value, health(value)),
            "installed memory" => controller.cache_bytes.learn_words(value, size_bytes(value)),
            "controller mode" | "functional mode" => {
                controller.passes_disks_through.learn_words(value, mode(value));
            }
            "defunct disk drive count" => {
                controller.arrays.learn_words(value, errors(value, "defunct disks"));
            }
            key if key.starts_with("logical d") && key.contains('/') => {
                return self.of_counts(value);
            }
            _ => return false,
        }
        true
    }

    /// `Logical drives/Offline/Critical : 1/1/0`, `Logical devices/Failed/Degraded : 2/0/0`.
    fn of_counts(&mut self, value: &str) -> bool {
        let numbers: Option<Vec<usize>> =
            value.split('/').map(|number| number.trim().parse().ok()).collect();
        let Some([all, bad @ ..]) = numbers.as_deref() else {
            self.controller.arrays.learn_words(value, None);
            return true;
        };
        self.counted = Some(*all);
        let bad: usize = bad.iter().sum();
        let state = errors(&bad.to_string(), "drives failed, offline or degraded");
        self.controller.arrays.learn_words(value, state);
        true
    }

    fn of_backup(&mut self, line: &OutputLine) -> bool {
        let value = line.value.as_str();
        match line.key.as_str() {
            "status"
            | "overall backup unit status"
            | "backup power status"
            | "battery/capacitor status"
            | "controller battery status" => {
                self.controller.backup.learn_words(value, backup(value));
            }
            "battery/capacitor pack count" if value == "0" => {
                self.controller.backup.learn(CacheBackup::Absent);
            }
            _ => return false,
        }
        true
    }

    fn of_cache(&mut self, line: &OutputLine) -> bool {
        let (controller, value) = (&mut self.controller, line.value.as_str());
        match line.key.as_str() {
            "cache status" => controller.cache.learn_words(value, cache_health(value)),
            "cache status details" => controller.cache_details.push(value.to_owned()),
            "cache memory" | "total cache size" => {
                controller.cache_bytes.learn_words(value, size_bytes(value));
            }
            "read cache percentage" => controller.read_percent.learn_words(value, percent(value)),
            "write cache percentage" => {
                let reads = percent(value).map(|writes| 100 - writes);
                controller.read_percent.learn_words(value, reads);
            }
            "no-battery write cache" => {
                controller.caches_without_backup.learn_words(value, switch(value));
            }
            _ => return false,
        }
        true
    }

    fn of_array(&mut self, line: &OutputLine) -> bool {
        let is_state = matches!(line.key.as_str(), "status" | "array status");
        if is_state {
            self.controller.arrays.learn_words(&line.value, health(&line.value));
        }
        is_state
    }

    fn of_disk_policy(&mut self, line: &OutputLine) -> bool {
        let is_one = line.key == "configured drives";
        if is_one {
            self.controller.disk_caches.learn_words(&line.value, disk_caches(&line.value));
        }
        is_one
    }

    fn of_disk(&mut self, line: &OutputLine) -> bool {
        let Some(name) = &self.disk else {
            return false;
        };
        let (disk, value) = (self.controller.disk(name), line.value.as_str());
        match line.key.as_str() {
            "write cache" => disk.cache.learn_words(value, disk_caches(value)),
            "state" => disk.state.learn_words(value, health(value)),
            _ => return false,
        }
        true
    }

    fn end_drive(&mut self) {
        if let Some(drive) = self.drive.take() {
            self.controller.tells_cache |= drive.is_later;
            let (id, facts, gaps) = drive.into_facts();
            self.controller.drive(&id).learn(facts);
            self.controller.gaps.extend(gaps);
        }
    }

    fn end(mut self) -> Controller {
        self.end_drive();
        let Self { mut controller, counted, has_policy, .. } = self;
        let told = controller.disk_caches.is_told() || !has_policy;
        controller.expect(told, "the policy for caches of disks", "Configured Drives");
        let told = controller.status.is_told() || controller.model.is_empty();
        controller.expect(told, "the controller", "Controller Status");
        if let Some(counted) = counted.filter(|&counted| counted != controller.drives.len()) {
            let described = controller.drives.len();
            controller.gaps.push(format!("it counts {counted} drives and describes {described}"));
        }
        if controller.cache.is_told() || controller.read_percent.is_told() {
            let told = controller.caches_without_backup.is_told();
            controller.expect(told, "the cache", "No-Battery Write Cache");
            let told = controller.read_percent.is_told();
            controller.expect(told, "the cache", "Read Cache Percentage");
        }
        let policy = controller.disk_caches.clone();
        controller.drives.iter_mut().for_each(|drive| drive.disk_caches.merge(policy.clone()));
        controller
    }
}

/// `RAID (Hide RAW)`, `Mixed`; `HBA`.
fn mode(value: &str) -> Option<bool> {
    let small = evened(value);
    match small.split(' ').next()? {
        "hba" => Some(true),
        "raid" | "mixed" | "simple" | "auto" | "maxcache" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
