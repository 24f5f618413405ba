//! Parses a logical drive from arcconf's output.

use super::super::known::KnownFact;
use super::super::lines::OutputLine;
use super::super::words::{alarm, caching, health, size_bytes, switch};
use super::super::{LogicalDrive, WritePolicy};

/// A drive while its lines are parsed.
#[derive(Default)]
pub(super) struct ArcconfDrive {
    facts: LogicalDrive,
    /// The mode in force.
    mode: KnownFact<bool>,
    /// The configured policy: whether writes are cached, and whether even without a battery.
    setting: KnownFact<WritePolicy>,
    /// Names of segments, each once.
    segments: Vec<String>,
    segment_count: Option<u32>,
    is_flash: Vec<bool>,
    /// Whether the output is of the generation that reports the state of the cache.
    pub is_later: bool,
}

impl ArcconfDrive {
    pub(super) fn new(id: String) -> Self {
        Self { facts: LogicalDrive { id, ..LogicalDrive::default() }, ..Self::default() }
    }

    /// Processes a line; returns whether it was understood.
    pub(super) fn take(&mut self, line: &OutputLine) -> bool {
        let (facts, value) = (&mut self.facts, line.value.as_str());
        match line.key.as_str() {
            "raid level" => {
                let is_number = value.starts_with(|c: char| c.is_ascii_digit());
                facts.level.learn_words(value, is_number.then(|| format!("RAID {value}")));
            }
            "stripe-unit size" | "strip size" | "stripe size" | "strip-unit size" => {
                facts.strip_bytes.learn_words(value, size_bytes(value));
            }
            "status of logical device" | "status of logical drive" => {
                facts.state.learn_words(value, health(value));
            }
            "read-cache mode" | "read-cache setting" | "read-cache status" => {
                facts.reads_ahead.learn_words(value, switch(value));
            }
            "disk name" | "device name" => {
                let name = value.split_whitespace().next().unwrap_or_default();
                facts.device = name.starts_with("/dev/").then(|| name.to_owned());
            }
            "number of segments" => self.segment_count = value.parse().ok(),
            key if key.contains("segment ") || is_device_row(key) => self.segment(key, value),
            _ => return self.of_cache(line),
        }
        true
    }

    fn of_cache(&mut self, line: &OutputLine) -> bool {
        let value = line.value.as_str();
        match line.key.as_str() {
            "write-cache mode" | "write-cache status" => {
                self.mode.learn_words(value, switch(value));
            }
            "write-cache setting" => self.setting.learn_words(value, setting(value)),
            "caching" => {
                self.is_later = true;
                self.facts.writes.learn_words(value, caching(value));
            }
            "ld acceleration method" if value.to_ascii_lowercase().contains("bypass") => {
                self.facts.is_flash.learn(true);
                self.facts.writes.learn(WritePolicy::Through);
            }
            "failed stripes" => {
                self.facts.state.learn_words(value, alarm(value, "it has failed stripes"));
            }
            _ => return false,
        }
        true
    }

    /// `Present (0,0) A`, `Present (14902MB, SAS, HDD, ...)`, `Missing`.
    fn segment(&mut self, key: &str, value: &str) {
        if !self.segments.iter().any(|known| known == key) {
            self.segments.push(key.to_owned());
        }
        let state = value.split([' ', '(']).next().unwrap_or_default();
        self.facts.members.learn_words(value, health(state));
        let kinds = [("SSD", true), ("HDD", false)];
        let kind = kinds.into_iter().find(|(kind, _)| value.contains(&format!(", {kind}")));
        self.is_flash.extend(kind.map(|(_, is_flash)| is_flash));
    }

    /// The drive, and the facts that the output should state and lacks.
    pub(super) fn into_facts(self) -> (String, LogicalDrive, Vec<String>) {
        let Self { mut facts, mode, setting, segments, segment_count, is_flash, .. } = self;
        for mode in mode.cases().into_iter().filter(|_| mode.is_told()) {
            facts.writes.learn_words("Write-cache mode", in_force(mode.copied(), &setting));
        }
        facts.writes_set.merge(setting);
        if !segments.is_empty() {
            facts.disks.learn(u32::try_from(segments.len()).unwrap_or(u32::MAX));
            if is_flash.len() >= segments.len() {
                facts.is_flash.learn(is_flash.iter().all(|is_flash| *is_flash));
            }
        }
        if let Some(count) = segment_count {
            facts.disks.learn(count);
        }
        let name = format!("drive {}", facts.id);
        let gaps = [
            (facts.level.is_told(), "RAID level"),
            (facts.state.is_told(), "status"),
            (facts.writes.is_told(), "write cache"),
        ]
        .into_iter()
        .filter(|(is_told, _)| !is_told)
        .map(|(_, what)| format!("{name} has no {what}"))
        .collect();
        (facts.id.clone(), facts, gaps)
    }
}

/// `Device 4`, and `Device 0,3`.
fn is_device_row(key: &str) -> bool {
    let number = key.strip_prefix("device ").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

/// `Enabled (write-back) when protected by battery/ZMM`, `On when protected by battery/ZMM`.
fn setting(value: &str) -> Option<WritePolicy> {
    let small = value.to_ascii_lowercase();
    match small.split_once(" when protected") {
        Some((on, _)) => (switch(on) == Some(true)).then_some(WritePolicy::Back),
        None => {
            switch(value).map(|on| if on { WritePolicy::BackAlways } else { WritePolicy::Through })
        }
    }
}

/// The policy in force: the mode shows whether writes are cached now, the setting whether always.
fn in_force(mode: Option<bool>, setting: &KnownFact<WritePolicy>) -> Option<WritePolicy> {
    match (mode?, setting.only()) {
        (false, _) => Some(WritePolicy::Through),
        (true, Some(WritePolicy::Back)) => Some(WritePolicy::Back),
        (true, Some(WritePolicy::BackAlways)) => Some(WritePolicy::BackAlways),
        (true, _) => Some(WritePolicy::BackPerhapsAlways),
    }
}
