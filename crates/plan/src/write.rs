//! The plan as a document again: for the manifest beside the databases and for the record.

use std::fmt::Write as _;

use crate::model::{Plan, Sessions};
use crate::quantity::{write_duration, write_size};

impl Plan {
    /// A TOML text that [`Plan::parse`] reads back as an equal plan, every value spelled out.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        self.head(&mut text)
            .and_then(|()| self.body(&mut text))
            .expect("invariant: writing to a string cannot fail");
        text
    }

    fn head(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "name = {}", quoted(&self.name))?;
        writeln!(text, "description = {}", quoted(&self.description))?;
        writeln!(text, "seed = {}", self.seed.0)?;
        writeln!(text, "preset = \"{}\"", self.preset)?;
        if let Some(mailboxes) = &self.mailboxes {
            writeln!(text, "\n[mailboxes]")?;
            writeln!(text, "count = {}", mailboxes.count)?;
            writeln!(text, "iops_each = {}", mailboxes.iops_each)?;
            writeln!(text, "size = \"{}\"", write_size(mailboxes.size))?;
            writeln!(text, "headroom = {}", mailboxes.headroom_percent)?;
        }
        self.where_databases_live(text)?;
        writeln!(text, "\n[engine]")?;
        writeln!(
            text,
            "cache_minimum = \"{}\"",
            write_size(self.cache.minimum)
        )?;
        writeln!(
            text,
            "cache_maximum = \"{}\"",
            write_size(self.cache.maximum)
        )?;
        let depth = write_size(self.checkpoint_depth);
        writeln!(text, "checkpoint_depth = \"{depth}\"")
    }

    /// Folders that repeat come from dealing out, so dealing out the distinct ones restores them.
    fn where_databases_live(&self, text: &mut String) -> std::fmt::Result {
        let folders = distinct(self.databases.iter().map(|database| &database.folder));
        let logs = distinct(self.databases.iter().map(|database| &database.log_folder));
        let dealt = folders.len() < self.databases.len();
        writeln!(text, "\n[databases]")?;
        if dealt {
            writeln!(text, "folders = [{}]", folders.join(", "))?;
            writeln!(text, "log_folders = [{}]", logs.join(", "))?;
            writeln!(text, "count = {}", self.databases.len())?;
        }
        writeln!(text, "size = \"{}\"", write_size(self.size))?;
        writeln!(text, "page_size = \"{}\"", write_size(self.page_size))?;
        for database in self.databases.iter().filter(|_| !dealt) {
            writeln!(text, "\n[[database]]")?;
            writeln!(text, "folder = {}", quoted(&database.folder))?;
            writeln!(text, "log_folder = {}", quoted(&database.log_folder))?;
        }
        Ok(())
    }

    fn body(&self, text: &mut String) -> std::fmt::Result {
        let workload = &self.workload;
        writeln!(text, "\n[workload]")?;
        match workload.sessions {
            Sessions::Auto => writeln!(text, "threads = \"auto\"")?,
            Sessions::Count(count) => writeln!(text, "threads = {count}")?,
        }
        if let Some(target) = workload.target_iops {
            writeln!(text, "target_iops = {target}")?;
        }
        writeln!(text, "insert = {}", workload.mix.insert)?;
        writeln!(text, "delete = {}", workload.mix.delete)?;
        writeln!(text, "replace = {}", workload.mix.replace)?;
        writeln!(text, "lazy_commits = {}", workload.mix.lazy_commits)?;
        writeln!(text, "batch_updates = {}", workload.batch_updates)?;
        writeln!(text, "commits_per_batch = {}", workload.commits_per_batch)?;
        writeln!(text, "short_pad = \"{}B\"", workload.short_pad_bytes)?;
        writeln!(text, "long_pad = \"{}B\"", workload.long_pad_bytes)?;
        writeln!(text, "\n[test]")?;
        let test = &self.test;
        writeln!(text, "type = \"{}\"", test.kind)?;
        writeln!(text, "duration = \"{}\"", write_duration(test.duration))?;
        writeln!(
            text,
            "warm_up_limit = \"{}\"",
            write_duration(test.warm_up_limit)
        )?;
        writeln!(text, "interval = \"{}\"", write_duration(test.interval))?;
        writeln!(text, "give_up = \"{}\"", write_duration(test.give_up))?;
        writeln!(text, "checksum = {}", test.checksum)?;
        writeln!(
            text,
            "maintenance = {}",
            test.maintenance_throttle.is_some()
        )?;
        if let Some(throttle) = test.maintenance_throttle {
            writeln!(
                text,
                "maintenance_throttle = \"{}\"",
                write_duration(throttle)
            )?;
        }
        let limits = &self.limits;
        writeln!(text, "\n[limits]")?;
        for (key, value) in [
            ("read_average", limits.read_average),
            ("read_maximum", limits.read_maximum),
            ("log_write_average", limits.log_write_average),
            ("log_write_maximum", limits.log_write_maximum),
            ("longest_request", limits.longest_request),
        ] {
            writeln!(text, "{key} = \"{}\"", write_duration(value))?;
        }
        Ok(())
    }
}

/// The distinct texts in the order of their first appearance, quoted.
fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut distinct = Vec::new();
    for text in texts.map(|text| quoted(text)) {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

/// `text` as a TOML basic string.
pub fn quoted(text: &str) -> String {
    let escape = |symbol: char| match symbol {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        symbol if symbol.is_control() => format!("\\u{:04X}", u32::from(symbol)),
        symbol => symbol.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}
