//! A plan under construction: the values of the elements so far, and the resulting text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plan::quoted;

use super::{ConversionError, ConversionProblem};

/// Numeric elements that a plan has a key or a use for.
const NUMBERS: [&str; 20] = [
    "LogFilesToReplay",
    "LogInterval",
    "OperationMix@InsertOps",
    "OperationMix@DeleteOps",
    "OperationMix@ReplaceOps",
    "OperationMix@LazyCommits",
    "BatchUpdates",
    "ThreadCount",
    "TransPerSec",
    "ThroughputPercentage",
    "CapacityPercentage",
    "MailboxCount",
    "MailboxQuota",
    "MailboxIops",
    "LongPadLength",
    "ShortPadLength",
    "DatabaseCopyCount",
    "DatabasePageSize",
    "DBMThrottling",
    "DBMThrottlingPassive",
];

/// The usual short and long pad length, in bytes; the presets were fitted to the load that was
/// published for them.
const USUAL_PADS: (f64, f64) = (200.0, 2_000.0);

/// Values of `Type`.
const TYPES: &str = "Performance, Stress, DatabaseBackup or SoftRecovery";

/// Maximum number of copies of a database in a plan.
const MOST_COPIES: f64 = 16.0;

/// Values of the elements so far.
#[expect(clippy::struct_excessive_bools, reason = "switches of a foreign document, each its own")]
#[derive(Default)]
pub(super) struct Draft {
    pub is_2010: bool,
    pub description: String,
    pub kind: String,
    pub duration: String,
    pub sizing: String,
    pub checksum: Option<bool>,
    pub maintenance: Option<bool>,
    pub is_untuned: bool,
    pub is_copied: bool,
    /// Whether mailboxes determine the load.
    asks_for_a_load: bool,
    pub instances: Vec<DatabasePlace>,
    pub limits: Vec<LimitSet>,
    numbers: BTreeMap<&'static str, f64>,
    remarks: Vec<(String, String)>,
    problems: Vec<ConversionProblem>,
    /// Problems of elements that affect nothing: reported along with others, but never a reason to
    /// refuse alone.
    asides: Vec<ConversionProblem>,
}

/// One database.
#[derive(Default)]
pub(super) struct DatabasePlace {
    pub folder: String,
    pub log_folder: String,
    pub backup_folder: String,
    /// The element's text for the weight; empty if there is none.
    pub weight: String,
}

/// One set of limits, in milliseconds.
#[derive(Default)]
pub(super) struct LimitSet {
    /// The types of test that it applies to; empty for all others.
    pub kinds: String,
    values: Vec<(&'static str, f64)>,
}

impl LimitSet {
    /// Stores a limit, if it is a known one.
    pub(super) fn take(&mut self, element: &str, number: f64) -> bool {
        let key = match element {
            "AverageDatabaseReadLatency" => "read_average",
            "MaximumDatabaseReadLatency" => "read_maximum",
            "AverageLogWriteLatency" => "log_write_average",
            "MaximumLogWriteLatency" => "log_write_maximum",
            _ => return false,
        };
        self.values.push((key, number));
        true
    }
}

impl Draft {
    /// Records an element that was not converted.
    pub(super) fn remark(&mut self, element: &str, why: &str) {
        self.remarks.push((element.replace("begin ", ""), units::plain(why).into_owned()));
    }

    /// Records an element that could not be read.
    pub(super) fn problem(&mut self, problem: ConversionProblem) {
        self.problems.push(problem);
    }

    /// Records an unreadable element that affects nothing.
    pub(super) fn aside(&mut self, problem: ConversionProblem) {
        self.asides.push(problem);
    }

    /// Stores the value of a numeric element; `false` for other elements, `None` if the value is no
    /// number from 0 to 10^12.
    pub(super) fn take_number(&mut self, element: &str, value: &str) -> Option<bool> {
        let Some(&known) = NUMBERS.iter().find(|known| **known == element) else {
            return Some(false);
        };
        let number: f64 = value.parse().ok()?;
        if !(0.0..=1e12).contains(&number) {
            return None;
        }
        self.numbers.insert(known, number);
        Some(true)
    }

    fn number(&self, element: &str) -> Option<f64> {
        self.numbers.get(element).copied()
    }

    /// The text of the plan and the elements that were not converted; all folders are under `root`.
    pub(super) fn finish(
        mut self,
        root: &str,
    ) -> Result<(String, Vec<(String, String)>), ConversionError> {
        if self.instances.is_empty() {
            self.problem(ConversionProblem::NoInstances);
        }
        let mut body = self.head();
        body += &self.mailboxes();
        body += &self.databases(root);
        body += &self.workload();
        body += &self.test();
        body += &self.limits();
        self.refuse()?;
        let mut text =
            "# Made from a configuration of Jetstress. Not taken over as it was:\n".to_owned();
        for (element, why) in &self.remarks {
            // A newline would end the comment.
            let why = why.replace(['\n', '\r'], " ");
            _ = writeln!(text, "# * {}: {why}", element.replace(['\n', '\r'], " "));
        }
        Ok((text + &body, self.remarks))
    }

    /// Reports all unreadable elements in one error.
    fn refuse(&mut self) -> Result<(), ConversionError> {
        let mut problems = std::mem::take(&mut self.problems);
        match problems.as_slice() {
            [] => Ok(()),
            [ConversionProblem::NoInstances] => Err(ConversionError::NoInstances),
            _ => {
                problems.append(&mut self.asides);
                Err(ConversionError::Problems(problems))
            }
        }
    }

    fn head(&self) -> String {
        let preset = if self.is_2010 { "exchange2010" } else { "exchange2013" };
        let description = quoted(&self.description);
        format!("description = {description}\npreset = \"{preset}\"\n")
    }

    /// The demand of the mailboxes, if the test used a mailbox profile.
    fn mailboxes(&mut self) -> String {
        let count = self.number("MailboxCount").filter(|count| *count >= 1.0);
        let iops = self.number("MailboxIops").filter(|iops| *iops > 0.0);
        let (Some(count), Some(iops), true) = (count, iops, self.is_profile()) else {
            return String::new();
        };
        let why = "the mailboxes say how much load there is";
        self.leave_percent("ThroughputPercentage", why);
        self.asks_for_a_load = true;
        let quota = self.number("MailboxQuota").filter(|quota| *quota >= 1.0);
        let size = quota.map_or(String::new(), |quota| format!("size = \"{quota:.0}MiB\"\n"));
        format!("\n[mailboxes]\ncount = {count:.0}\niops_each = {iops:?}\n{size}headroom = 0\n")
    }

    fn databases(&mut self, root: &str) -> String {
        let page = self.number("DatabasePageSize").unwrap_or(32_768.0) / 1024.0;
        let count = self.number("MailboxCount").unwrap_or(0.0);
        let megabytes = count * self.number("MailboxQuota").unwrap_or(0.0);
        let each = (megabytes / self.instances.len().max(1) as f64).ceil();
        let size = if self.is_profile() && each >= 16.0 {
            self.leave_percent("CapacityPercentage", "the mailboxes say how large databases are");
            format!("size = \"{each:.0}MiB\"")
        } else {
            let percent = self.percent("CapacityPercentage").unwrap_or(100.0);
            let became = format!("capacity_percent = {percent:.0}");
            self.remark("DatabaseSizing", &format!("`{}` became {became}", self.sizing));
            became
        };
        let mut text = format!("\n[databases]\n{size}\npage_size = \"{page:.0}KiB\"\n");
        let instances = std::mem::take(&mut self.instances);
        for (instance, number) in instances.iter().zip(1_u32..) {
            let folder = self.folder("DatabasePaths/Path", &instance.folder, (root, number));
            let log_folder = self.folder("LogPath", &instance.log_folder, (root, number));
            let (folder, log_folder) = (quoted(&folder), quoted(&log_folder));
            _ = write!(text, "\n[[database]]\nfolder = {folder}\nlog_folder = {log_folder}\n");
            text += &self.copy_of(instance, (root, number));
            text += &self.weight_of(instance);
        }
        self.instances = instances;
        text
    }

    /// Whether mailboxes determine the load and the size of databases.
    fn is_profile(&self) -> bool {
        self.sizing == "Profile"
    }

    /// A share in percent, rounded; `None` if it is missing, or outside the range of a plan.
    fn percent(&mut self, element: &str) -> Option<f64> {
        let given = self.number(element)?;
        let percent = given.round();
        if (1.0..=100.0).contains(&percent) {
            return Some(percent);
        }
        self.remark(element, &format!("{given} is not taken over: it is 1 to 100"));
        None
    }

    /// Records a share that another element overrides.
    fn leave_percent(&mut self, element: &str, why: &str) {
        if let Some(percent) = self.number(element).filter(|of| of.total_cmp(&100.0).is_ne()) {
            self.remark(element, &format!("{percent} is not taken over: {why}"));
        }
    }

    /// Destination of a backup of the database, if any.
    fn copy_of(&mut self, instance: &DatabasePlace, below: (&str, u32)) -> String {
        let path = &instance.backup_folder;
        if path.is_empty() {
            return String::new();
        }
        if !self.is_copied {
            let why = "BackupToDisk is off, so a backup only reads";
            self.remark("DatabaseBackupPath", &format!("{path} is not taken over: {why}"));
            return String::new();
        }
        let folder = self.folder("DatabaseBackupPath", path, below);
        format!("backup_folder = {}\n", quoted(&folder))
    }

    /// The database's share of the load, if it differs from that of the others.
    fn weight_of(&mut self, instance: &DatabasePlace) -> String {
        let given = &instance.weight;
        match given.parse::<f64>() {
            Ok(1.0) => String::new(),
            Ok(weight) if (0.01..=100.0).contains(&weight) => format!("weight = {weight}\n"),
            _ if given.is_empty() => String::new(),
            _ => {
                let why = "weights are 0.01 to 100";
                self.remark("EseInstance@IopsBias", &format!("{given} is not taken over: {why}"));
                String::new()
            }
        }
    }

    /// Maps a Windows folder to a folder of this system.
    fn folder(&mut self, element: &str, path: &str, (root, number): (&str, u32)) -> String {
        if path.starts_with('/') {
            return path.to_owned();
        }
        let parts: Vec<&str> =
            path.split(['\\', '/', ':']).filter(|part| !part.is_empty() && *part != "..").collect();
        let below = if parts.is_empty() { format!("{number}") } else { parts.join("/") };
        let folder = format!("{}/{below}", root.trim_end_matches('/'));
        self.remark(element, &format!("{path} became {folder}"));
        folder
    }

    fn workload(&mut self) -> String {
        let mut text = "\n[workload]\n".to_owned();
        let keys = [
            ("OperationMix@InsertOps", "insert"),
            ("OperationMix@DeleteOps", "delete"),
            ("OperationMix@ReplaceOps", "replace"),
            ("OperationMix@LazyCommits", "lazy_commits"),
            ("BatchUpdates", "batch_updates"),
        ];
        for (element, key) in keys {
            if let Some(number) = self.number(element) {
                _ = writeln!(text, "{key} = {number:.0}");
            }
        }
        text += &self.pads();
        text += &self.threads();
        text + &self.throughput()
    }

    fn pads(&mut self) -> String {
        let (short, long) = (self.number("ShortPadLength"), self.number("LongPadLength"));
        let (Some(short), Some(long)) = (short, long) else {
            return String::new();
        };
        if (short, long) == USUAL_PADS {
            let why = "as usual: the preset's pads give the load that was published for them";
            self.remark("ShortPadLength", &format!("{short} is not taken over, {why}"));
            self.remark("LongPadLength", &format!("{long} is not taken over, {why}"));
            return String::new();
        }
        format!("short_pad = \"{short:.0}B\"\nlong_pad = \"{long:.0}B\"\n")
    }

    /// The share of the highest load, if below 100 % and if mailboxes do not determine the load.
    fn throughput(&mut self) -> String {
        if self.asks_for_a_load {
            return String::new();
        }
        match self.percent("ThroughputPercentage") {
            Some(percent) if percent < 100.0 => format!("throughput_percent = {percent:.0}\n"),
            _ => String::new(),
        }
    }

    /// Threads are per database in 2010, and in total in 2013.
    fn threads(&mut self) -> String {
        let unpublished = [
            ("TransPerSec", "what it counts is not published; hold the load with target_iops"),
            ("DBMThrottlingPassive", "passive copies are not scanned"),
        ];
        for (element, why) in unpublished {
            if let Some(number) = self.number(element).filter(|number| *number > 0.0) {
                self.remark(element, &format!("{number} is not taken over: {why}"));
            }
        }
        let Some(threads) = self.number("ThreadCount").filter(|threads| *threads >= 1.0) else {
            return String::new();
        };
        if !self.is_untuned {
            let why = "tuning is on, so the number of sessions is searched for";
            self.remark("ThreadCount", &format!("{threads} is not taken over: {why}"));
            return String::new();
        }
        let databases = if self.is_2010 { 1.0 } else { self.instances.len() as f64 };
        let each = (threads / databases).ceil();
        if (each * databases - threads).abs() > 0.5 {
            let why = format!("{each} sessions of each of {databases} databases");
            self.remark("ThreadCount", &format!("{threads} became {why}"));
        }
        format!("threads = {each:.0}\n")
    }

    fn test(&mut self) -> String {
        let kind = match self.kind.as_str() {
            "Performance" | "" => "performance",
            "Stress" => "stress",
            "DatabaseBackup" => "backup",
            "SoftRecovery" => "recovery",
            other => {
                let problem = ConversionProblem::of("Type", other, TYPES);
                self.problem(problem);
                "performance"
            }
        };
        let mut text = format!("\n[test]\ntype = \"{kind}\"\n");
        if !self.duration.is_empty() {
            if let Some(duration) = duration(&self.duration) {
                _ = writeln!(text, "duration = \"{duration}s\"");
            } else {
                let wanted = "one such as P0Y0M0DT2H0M0S";
                self.problem(ConversionProblem::of("Duration", &self.duration, wanted));
            }
        }
        let milliseconds = [("LogInterval", "interval"), ("DBMThrottling", "maintenance_throttle")];
        for (element, key) in milliseconds {
            if let Some(number) = self.number(element) {
                _ = writeln!(text, "{key} = \"{number:.0}ms\"");
            }
        }
        if let Some(copies) = self.number("DatabaseCopyCount").filter(|copies| *copies > 1.0) {
            _ = writeln!(text, "copies = {:.0}", copies.min(MOST_COPIES));
            if copies > MOST_COPIES {
                let became = format!("{copies} became {MOST_COPIES}, the most that there are");
                self.remark("DatabaseCopyCount", &became);
            }
        }
        if let Some(logs) = self.number("LogFilesToReplay") {
            _ = writeln!(text, "replay_logs = {logs:.0}");
        }
        for (switch, key) in [(self.checksum, "checksum"), (self.maintenance, "maintenance")] {
            if let Some(switch) = switch {
                _ = writeln!(text, "{key} = {switch}");
            }
        }
        text
    }

    /// The limits for this type of test, or else those for all other types.
    fn limits(&self) -> String {
        let mut sets = self.limits.iter();
        let found = sets
            .find(|set| !self.kind.is_empty() && set.kinds.contains(&self.kind))
            .or_else(|| self.limits.iter().find(|set| set.kinds.is_empty()));
        let Some(set) = found else {
            return String::new();
        };
        let lines = set.values.iter().map(|(key, ms)| format!("{key} = \"{ms:.0}ms\"\n"));
        format!("\n[limits]\n{}", lines.collect::<String>())
    }
}

/// The seconds of a duration such as `P0Y0M0DT2H0M0S`; `None` if it has years or months, which no
/// test needs.
fn duration(text: &str) -> Option<u64> {
    let text = text.strip_prefix('P').unwrap_or(text);
    let (days, time) = text.split_once('T').unwrap_or(("", text));
    let days = parts(days, &[('Y', 0), ('M', 0), ('D', 86_400)])?;
    let time = parts(time, &[('H', 3_600), ('M', 60), ('S', 1)])?;
    days.checked_add(time)
}

/// The seconds of numbers with units; a unit with the factor 0 is only allowed with the number 0.
fn parts(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let (mut seconds, mut digits) = (0_u64, String::new());
    for symbol in text.chars() {
        if symbol.is_ascii_digit() {
            digits.push(symbol);
            continue;
        }
        let (_, factor) = units.iter().find(|(unit, _)| *unit == symbol)?;
        let number: u64 = digits.parse().ok()?;
        if *factor == 0 && number > 0 {
            return None;
        }
        seconds = seconds.checked_add(number.checked_mul(*factor)?)?;
        digits.clear();
    }
    digits.is_empty().then_some(seconds)
}
