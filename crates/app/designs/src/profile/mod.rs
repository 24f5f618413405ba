//! `profile`: measures mailbox sizes and activity from administrators' files or from the same
//! reports fetched online, and storage load from counter logs and block traces.

pub(crate) mod flags;
mod load;
mod sign_in;

use std::path::{Path, PathBuf};

use builds::{BuildNumber, BuildTable};
use profile::load::{LoadCollector, LoadOptions};
use profile::{Collector, FileReport, Options, Profile, ScriptFigures, TierProfile};
use serde_json::{Value, json};

use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use flags::ProfileFlags;

/// Microsoft Graph's names of the fetched reports.
const MAILBOX_USAGE: &str = "getMailboxUsageDetail";
const EMAIL_ACTIVITY: &str = "getEmailActivityUserDetail";

/// Reads all files and answers with the tiers of a deployment, or with the load over the day.
pub(crate) fn run(flags: &ProfileFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if let Some(path) = documents::named_file(flags.output.as_ref()) {
        documents::refuse_existing(path, Existing::of_flag(flags.force))?;
    }
    let mut collector = Collector::new(options(flags));
    let mut load = LoadCollector::new(LoadOptions {
        all_days: flags.all_days,
        trace_start: flags.trace_start,
        only: flags.only.clone(),
    });
    let mut has_mail = false;
    if let Some(reports) = sign_in::fetch(&flags.sign_in)? {
        has_mail = true;
        for (name, bytes) in
            [(MAILBOX_USAGE, reports.mailbox_usage), (EMAIL_ACTIVITY, reports.email_activity)]
        {
            say(collector.add(name, &documents::decode(&bytes).text)?, console)?;
        }
    }
    for path in &flags.files {
        let (name, text) = (path.display().to_string(), documents::read_data(path)?);
        if LoadCollector::knows(&text) {
            load::say(load.add(&name, &text)?, console)?;
        } else {
            has_mail = true;
            say(collector.add(&name, &text)?, console)?;
        }
    }
    match (has_mail, load.is_empty()) {
        (true, true) => conclude(collector, flags, console),
        (false, _) => load::conclude(load, flags, console),
        (true, false) => Err(CommandError::new(
            "counter logs and traces make a load over the day, the other files make a deployment; \
             give them in two commands"
                .to_owned(),
        )),
    }
}

fn options(flags: &ProfileFlags) -> Options {
    Options {
        mailboxes: flags.mailboxes,
        size_limit: flags.size_limit,
        average_message: flags.average_message,
        working_days_only: !flags.all_days,
        utc_offset_hours: flags.utc_offset,
    }
}

fn conclude(
    collector: Collector,
    flags: &ProfileFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let profile = collector.finish()?;
    let text = if flags.json {
        format!("{}\n", report::answer("profile", as_json(&profile)))
    } else {
        profile.to_toml()
    };
    if let Some(path) = documents::named_file(flags.output.as_ref()) {
        let inputs: Vec<&Path> = flags.files.iter().map(PathBuf::as_path).collect();
        let existing = Existing::of_flag(flags.force);
        documents::write(path, text.as_bytes(), existing, &inputs)?;
        console.remark(format_args!(
            "Next: add servers and copies to {0}; plimsoll size {0} says what is missing.",
            path.display()
        ))?;
    } else {
        console.answer_text(&text)?;
    }
    Ok(Outcome::Pass)
}

/// The kind of a file, and its unusable rows.
fn say(report: &FileReport, console: &mut Console) -> Result<(), CommandError> {
    let FileReport { name, kind, rows, .. } = report;
    let left_out: u64 = report.left_out.values().sum();
    let used = rows - left_out - report.bad_rows;
    let release = release(report).map_or_else(String::new, |release| format!(" of {release}"));
    console.remark(format_args!(
        "{name}: {kind}{release}; {used} of {rows} rows used, {left_out} left out, {} bad",
        report.bad_rows
    ))?;
    for row in &report.bad_examples {
        console.remark(format_args!("{name}: {row}"))?;
    }
    Ok(())
}

/// The release of the server that wrote the file, if the file states its version.
fn release(report: &FileReport) -> Option<String> {
    let version = BuildNumber::parse(report.version.as_deref()?)?;
    let table = BuildTable::embedded();
    Some(format!("{} ({version}, builds as of {})", table.identify(version), table.date()))
}

fn as_json(profile: &Profile) -> Value {
    let peak = profile.peak_hour();
    json!({
        "mailboxes": profile.mailboxes(),
        "tiers": profile.tiers.iter().map(tier).collect::<Vec<_>>(),
        "hourly_percent": profile.hourly_shares.map(|shares| shares.map(|share| share * 100.0)),
        "peak_hour": peak.map(|(hour, share)| json!({ "hour": hour, "percent": share * 100.0 })),
        "deleted_percent": profile.deleted_share.map(|share| share * 100.0),
        "archives": profile.archives,
        "message_profile": profile.script.as_ref().map(script),
        "files": profile.files.iter().map(file).collect::<Vec<_>>(),
        "rules": profile.rules,
    })
}

fn tier(tier: &TierProfile) -> Value {
    json!({
        "name": tier.name,
        "mailboxes": tier.mailboxes,
        "messages_per_day": tier.messages_per_day,
        "average_message_bytes": tier.average_message.map(|size| size.0),
        "initial_size_bytes": tier.initial_size.map(|size| size.0),
        "size_limit_bytes": tier.size_limit.map(|size| size.0),
    })
}

/// Uses the names in Microsoft's script, so that both can be compared.
fn script(figures: &ScriptFigures) -> Value {
    json!({
        "AvgTotalMsgs": figures.total_messages,
        "AvgTotalKB": figures.total_kilobytes,
        "AvgSentMsgs": figures.sent_messages,
        "AvgSentKB": figures.sent_kilobytes,
        "AvgRcvdMsgs": figures.received_messages,
        "AvgRcvdKB": figures.received_kilobytes,
    })
}

fn file(report: &FileReport) -> Value {
    let bad: Vec<String> = report.bad_examples.iter().map(ToString::to_string).collect();
    json!({
        "name": report.name,
        "kind": report.kind.to_string(),
        "version": report.version,
        "release": release(report),
        "rows": report.rows,
        "left_out": report.left_out,
        "bad_rows": report.bad_rows,
        "bad_examples": bad,
        "first_date": report.dates.as_ref().map(|(first, _)| first),
        "last_date": report.dates.as_ref().map(|(_, last)| last),
    })
}
