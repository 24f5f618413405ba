//! Text of nvme: `id-ctrl`, `smart-log`, `get-feature -f 6 -H` and `list`. There is no RAID
//! controller in front of these devices. They may have a volatile cache, and they report their
//! health.

use super::lines::{OutputLine, evened, lines, must_be_shown};
use super::words::switch;
use super::{Controller, ControllerError, DiskCaches, Health, Output, Tool};

/// The devices in the output; `None` if the text is something else.
pub(super) fn read(text: &str) -> Option<Result<Output, ControllerError>> {
    text.lines().any(begins).then(|| {
        let mut parser = NvmeParser::default();
        let mut unread = Vec::new();
        for line in lines(text, |line| begins(&line.text) || line.text.starts_with("/dev/")) {
            if !parser.take(&line) && must_be_shown(&line) {
                unread.push(line.unread());
            }
        }
        parser.end_part();
        if parser.devices.is_empty() {
            return Err(ControllerError::Empty(Tool::Nvme));
        }
        for device in parser.devices.iter_mut().filter(|device| !device.cache_details.is_empty()) {
            if !device.disk_caches.is_told() {
                device.disk_caches.learn(DiskCaches::LeftToDisks);
            }
        }
        Ok(Output { controllers: parser.devices, unread })
    })
}

fn begins(line: &str) -> bool {
    let line = evened(line);
    line.starts_with("nvme identify controller")
        || line.starts_with("smart log for nvme device")
        || line.starts_with("smart/health log")
        || line.starts_with("get-feature:0x06")
        || line.starts_with("get-feature:0x6")
        || line.starts_with("node") && line.contains(" sn ") && line.contains(" model ")
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NvmePart {
    #[default]
    None,
    Identity,
    Health,
    List,
}

#[derive(Default)]
struct NvmeParser {
    devices: Vec<Controller>,
    part: NvmePart,
    seen: Vec<&'static str>,
    spare: Option<u32>,
}

impl NvmeParser {
    fn take(&mut self, line: &OutputLine) -> bool {
        let small = evened(&line.text);
        if begins(&line.text) {
            self.end_part();
            self.begin(&small);
            return true;
        }
        match self.part {
            NvmePart::None => self.feature(line),
            NvmePart::Identity => self.of_identity(line),
            NvmePart::Health => self.of_health(line),
            NvmePart::List => self.of_list(line),
        }
    }

    fn begin(&mut self, small: &str) {
        let name = small.split("device:").nth(1).and_then(|rest| rest.split_whitespace().next());
        self.part = match small.split(' ').next() {
            Some("nvme") => NvmePart::Identity,
            Some("node") => NvmePart::List,
            Some(word) if word.starts_with("smart") => NvmePart::Health,
            _ => NvmePart::None,
        };
        let is_known = self.part == NvmePart::List || !self.devices.is_empty() && name.is_none();
        if !is_known {
            let mut device = Controller::new(Tool::Nvme, name);
            if name.is_none() {
                device.id = None;
            }
            self.devices.push(device);
        }
        if let (NvmePart::None, Some(device)) = (self.part, self.devices.last_mut()) {
            let value = small.rsplit("value:").next().unwrap_or_default();
            device.disk_caches.learn_words(small, hex(value).map(on_or_off));
        }
    }

    fn of_identity(&mut self, line: &OutputLine) -> bool {
        let Some(device) = self.devices.last_mut() else {
            return false;
        };
        let value = line.value.as_str();
        match line.key.as_str() {
            "sn" => device.serial = Some(value.to_owned()),
            "mn" => value.clone_into(&mut device.model),
            "vwc" => {
                self.seen.push("vwc");
                match hex(value) {
                    // A cache is present; whether it is on is a feature.
                    Some(bits) if bits & 1 == 1 => {
                        device.cache_details.push("it has a volatile write cache".to_owned());
                    }
                    bits => device.disk_caches.learn_words(value, bits.map(on_or_off)),
                }
            }
            _ => return self.feature(line),
        }
        true
    }

    fn feature(&mut self, line: &OutputLine) -> bool {
        let is_one = line.key == "volatile write cache enable (wce)";
        if let Some(device) = self.devices.last_mut().filter(|_| is_one) {
            let cache = switch(&line.value).map(|on| on_or_off(u64::from(on)));
            device.disk_caches.learn_words(&line.value, cache);
        }
        is_one
    }

    fn of_health(&mut self, line: &OutputLine) -> bool {
        let Some(device) = self.devices.last_mut() else {
            return false;
        };
        let value = line.value.as_str();
        let number = value.trim_end_matches('%').trim().replace(',', "").parse::<u32>().ok();
        match line.key.replace(' ', "_").as_str() {
            "critical_warning" => {
                self.seen.push("critical_warning");
                device.status.learn_words(value, hex(value).map(warning));
            }
            "available_spare" => {
                self.seen.push("available_spare");
                self.spare = number;
            }
            "available_spare_threshold" => {
                self.seen.push("available_spare_threshold");
                let state = self.spare.zip(number).map(spare);
                device.status.learn_words(value, state);
            }
            "percentage_used" => {
                self.seen.push("percentage_used");
                device.status.learn_words(value, number.map(used));
            }
            "media_errors" | "media_and_data_integrity_errors" => {
                self.seen.push("media_errors");
                let state = super::words::errors(&value.replace(',', ""), "media errors");
                device.status.learn_words(value, state);
            }
            _ => return false,
        }
        true
    }

    /// `/dev/nvme0n1  SERIAL  Model of it  1  512 GB / 512 GB  512 B + 0 B  1B2Q`.
    fn of_list(&mut self, line: &OutputLine) -> bool {
        let mut words = line.text.split_whitespace();
        let Some(name) = words.next().filter(|name| name.starts_with("/dev/nvme")) else {
            return false;
        };
        let mut device = Controller::new(Tool::Nvme, Some(name.trim_start_matches("/dev/")));
        device.serial = words.find(|word| !word.starts_with("/dev/")).map(str::to_owned);
        self.devices.push(device);
        true
    }

    fn end_part(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        let expected: &[&str] = match self.part {
            NvmePart::Identity => &["vwc"],
            NvmePart::Health => &[
                "critical_warning",
                "available_spare",
                "available_spare_threshold",
                "percentage_used",
                "media_errors",
            ],
            _ => &[],
        };
        if let Some(device) = self.devices.last_mut() {
            for what in expected {
                device.expect(seen.contains(what), "the device", what);
            }
        }
        self.part = NvmePart::None;
    }
}

/// `0x7`, `7`.
fn hex(value: &str) -> Option<u64> {
    let value = value.trim();
    match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    }
}

const fn on_or_off(bits: u64) -> DiskCaches {
    if bits & 1 == 1 { DiskCaches::On } else { DiskCaches::Off }
}

fn warning(bits: u64) -> Health {
    const BITS: [&str; 6] = [
        "the spare is used up",
        "the temperature is out of its limits",
        "its reliability is degraded",
        "it is read-only",
        "the backup of its volatile memory has failed",
        "its persistent memory region is unreliable",
    ];
    let words: Vec<&str> = BITS
        .iter()
        .enumerate()
        .filter_map(|(at, words)| (bits >> at & 1 == 1).then_some(*words))
        .collect();
    match bits {
        0 => Health::Ok,
        _ => Health::Bad(format!("critical warning {bits:#x}: {}", words.join(", "))),
    }
}

fn spare((spare, least): (u32, u32)) -> Health {
    if spare < least {
        Health::Bad(format!("spare {spare} %, below its limit of {least} %"))
    } else {
        Health::Ok
    }
}

fn used(percent: u32) -> Health {
    if percent < 100 { Health::Ok } else { Health::Limited(format!("{percent} % used")) }
}

#[cfg(test)]
mod tests;
