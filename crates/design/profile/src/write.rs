//! The profile as a deployment document: `size` reads it unchanged, and people edit it further.

use std::fmt::Write as _;

use plan::{quoted, write_size};

use crate::FileReport;
use crate::combine::{Profile, TierProfile};

impl Profile {
    /// The tiers and hours as TOML, preceded by their provenance.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("invariant: writing to a string cannot fail");
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "# What mailboxes do, measured by `plimsoll profile`: the tiers of a")?;
        writeln!(text, "# deployment. `plimsoll size` says what else it needs to know.")?;
        self.provenance(text)?;
        for tier in &self.tiers {
            write_tier(tier, text)?;
        }
        let Some(shares) = self.hourly_shares else {
            return Ok(());
        };
        writeln!(text, "\n[replication]")?;
        if let Some((hour, share)) = self.peak_hour() {
            let percent = share * 100.0;
            let next = (hour + 1) % 24;
            writeln!(
                text,
                "# busiest from {hour}:00 to {next}:00, with {percent:.1} % of the day"
            )?;
        }
        writeln!(text, "hourly_percent = [")?;
        for part in shares.chunks(6) {
            let part: Vec<String> =
                part.iter().map(|share| format!("{:.4}", share * 100.0)).collect();
            writeln!(text, "    {},", part.join(", "))?;
        }
        writeln!(text, "]")
    }

    fn provenance(&self, text: &mut String) -> std::fmt::Result {
        let bad = self.files.iter().flat_map(|file| {
            file.bad_examples.iter().map(move |row| format!("{}: {row}", file.name))
        });
        let mut rules = self.rules.clone();
        if let Some(share) = self.deleted_share {
            rules.push(format!("deleted items: {:.1} % of what mailboxes hold", share * 100.0));
        }
        if self.archives > 0 {
            let archives = self.archives;
            rules.push(format!("archives: {archives} mailboxes; give `archive_limit` for them"));
        }
        writeln!(text, "\n[provenance]")?;
        write_list("files", self.files.iter().map(described), text)?;
        write_list("bad_rows", bad, text)?;
        write_list("rules", rules, text)
    }
}

/// The contents of a file, in one line.
fn described(file: &FileReport) -> String {
    let rows = units::plural(file.rows, "row");
    let head = format!("{}: {}, {rows}", file.name, file.kind);
    let dates = file.dates.iter().map(|(first, last)| format!("{first} to {last}"));
    let left_out = file.left_out.iter();
    let left_out = left_out.map(|(reason, rows)| format!("{rows} left out ({reason})"));
    let bad = (file.bad_rows > 0).then(|| format!("{} bad", file.bad_rows));
    let parts: Vec<String> =
        std::iter::once(head).chain(dates).chain(left_out).chain(bad).collect();
    parts.join("; ")
}

fn write_list(
    key: &str,
    items: impl IntoIterator<Item = String>,
    text: &mut String,
) -> std::fmt::Result {
    let mut items = items.into_iter().peekable();
    if items.peek().is_none() {
        return Ok(());
    }
    writeln!(text, "{key} = [")?;
    for item in items {
        writeln!(text, "    {},", quoted(&item))?;
    }
    writeln!(text, "]")
}

/// Fewest messages a day that a deployment takes; lower measurements are rounded up to it.
const LEAST_MESSAGES: f64 = 1.0;

fn write_tier(tier: &TierProfile, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\n[[tier]]")?;
    writeln!(text, "name = {}", quoted(&tier.name))?;
    writeln!(text, "mailboxes = {}", tier.mailboxes)?;
    let messages = tier.messages_per_day;
    if messages < LEAST_MESSAGES {
        writeln!(text, "messages_per_day = {LEAST_MESSAGES:.1} # measured {messages:.2}")?;
    } else {
        writeln!(text, "messages_per_day = {messages:.1}")?;
    }
    for (key, size, hint) in [
        ("average_message", tier.average_message, "\"75KiB\""),
        ("initial_size", tier.initial_size, "\"512MiB\""),
        ("size_limit", tier.size_limit, "\"2GiB\""),
    ] {
        match size {
            Some(size) => writeln!(text, "{key} = \"{}\"", write_size(size))?,
            None => writeln!(text, "# {key} = {hint} # no file said")?,
        }
    }
    Ok(())
}
