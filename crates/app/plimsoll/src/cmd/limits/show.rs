//! `limits show`: the limit of each protocol, and the chain behind it.

use std::path::Path;

use limits::{Chain, Direction, Link, Lock, RulePlace, SettingKind, Side};
use serde_json::{Value, json};
use units::Bytes;

use super::find::{FoundServer, servers};
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Shows every server in `folder`.
pub(super) fn run(
    folder: &Path,
    as_json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let mut answers = Vec::new();
    for found in servers(folder)? {
        let chains = found.server.chains()?;
        if as_json {
            answers.push(server_json(&found, &chains));
            continue;
        }
        console.answer(format_args!("{}", found.folder.display()))?;
        for chain in &chains {
            for line in lines(chain) {
                console.answer(line)?;
            }
        }
    }
    if as_json {
        console.answer_json("limits", json!({ "servers": answers }))?;
    }
    Ok(Outcome::Pass)
}

/// The answer for one protocol, then the limits behind it.
pub(super) fn lines(chain: &Chain) -> Vec<String> {
    let mut lines = vec![
        format!("  {}", chain.protocol),
        format!("    upload    {}", direction(chain, Direction::Upload)),
        format!("    download  {}", direction(chain, Direction::Download)),
    ];
    for side in &chain.missing {
        lines.push(format!("    no file of the {side} is here: what it allows is not counted"));
    }
    for (side, lock) in &chain.locks {
        lines.push(format!("    {side}: {lock}"));
    }
    lines.extend(chain.links.iter().map(|link| format!("      {}", describe(link))));
    lines
}

fn direction(chain: &Chain, direction: Direction) -> String {
    let Some((bytes, deciding)) = chain.effective(direction) else {
        return "not limited by these files".to_owned();
    };
    let places: Vec<String> = deciding.iter().map(|link| decider(link)).collect();
    let doubt = match chain.perhaps(direction) {
        Some((perhaps, _)) if perhaps < bytes => format!(
            "; only {perhaps} bytes if Exchange's own request filter reads {}",
            SettingKind::ContentLength
        ),
        _ => String::new(),
    };
    let attachments = match direction {
        Direction::Upload => {
            format!("; attachments of about {} in base64", Bytes(payload(bytes)))
        }
        Direction::Download => String::new(),
    };
    format!(
        "{bytes} bytes ({}), decided by {}{doubt}{attachments}",
        Bytes(bytes),
        places.join(" and ")
    )
}

/// Three bytes become four letters in base64.
fn payload(bytes: u64) -> u64 {
    bytes / 4 * 3
}

fn decider(link: &Link) -> String {
    match &link.place {
        RulePlace::File { file, line, .. } => format!("{} in {file}:{line}", link.kind),
        RulePlace::Default => format!("the default of {} ({})", link.kind, link.side),
    }
}

fn describe(link: &Link) -> String {
    let place = match &link.place {
        RulePlace::File { file, line, count: 1 } => format!("{file}:{line}"),
        RulePlace::File { file, line, count } => format!("{file}:{line} and {} more", count - 1),
        RulePlace::Default => "default".to_owned(),
    };
    let doubt = if link.is_certain {
        ""
    } else {
        "; IIS's request filter is removed, perhaps without effect"
    };
    format!(
        "{:<9}  {:<23} {:>11}  {place}{doubt}",
        link.side.to_string(),
        link.kind.name(),
        link.bytes
    )
}

fn server_json(found: &FoundServer, chains: &[Chain]) -> Value {
    json!({
        "folder": found.folder.display().to_string(),
        "protocols": chains.iter().map(chain_json).collect::<Vec<_>>(),
    })
}

/// The limits of one protocol as JSON.
pub(super) fn chain_json(chain: &Chain) -> Value {
    let missing: Vec<String> = chain.missing.iter().map(ToString::to_string).collect();
    json!({
        "protocol": chain.protocol.to_string(),
        "upload": direction_json(chain, Direction::Upload),
        "download": direction_json(chain, Direction::Download),
        "missing": missing,
        "locks": chain.locks.iter().map(lock_json).collect::<Vec<_>>(),
        "limits": chain.links.iter().map(link_json).collect::<Vec<_>>(),
    })
}

fn lock_json((side, lock): &(Side, Lock)) -> Value {
    json!({
        "side": side.to_string(),
        "file": lock.file,
        "line": lock.line,
        "by": lock.by,
    })
}

fn direction_json(chain: &Chain, direction: Direction) -> Value {
    let Some((bytes, deciding)) = chain.effective(direction) else {
        return Value::Null;
    };
    json!({
        "bytes": bytes,
        "perhaps_bytes": chain.perhaps(direction).map(|(bytes, _)| bytes),
        "payload_bytes": payload(bytes),
        "decided_by": deciding.into_iter().map(link_json).collect::<Vec<_>>(),
    })
}

fn link_json(link: &Link) -> Value {
    let (file, line, count) = match &link.place {
        RulePlace::File { file, line, count } => (Some(file), Some(line), Some(count)),
        RulePlace::Default => (None, None, None),
    };
    json!({
        "side": link.side.to_string(),
        "setting": link.kind.name(),
        "direction": link.direction.to_string(),
        "bytes": link.bytes,
        "file": file,
        "line": line,
        "places": count,
        "certain": link.is_certain,
    })
}
