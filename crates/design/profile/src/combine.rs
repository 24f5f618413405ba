//! Derives tiers from counts: which source supplies each number, and by which rule.

use units::Bytes;

use crate::mailboxes::Mailbox;
use crate::message_profile::SiteMail;
use crate::tracking::Traffic;
use crate::{Collector, FileReport, ProfileError};

/// Maximum groups of mailboxes, the number that the official calculator accepts.
const MOST_TIERS: usize = 4;

/// Maximum number of system mailboxes to list by name.
const MOST_NAMES: usize = 12;

/// Days in a week, and in a working week.
const WEEK: f64 = 7.0;
const WORKING_WEEK: f64 = 5.0;

/// Activity of mailboxes, and the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Groups of similar mailboxes.
    pub tiers: Vec<TierProfile>,
    /// Share of each hour of the day in the log files, or in the messages if those are not known;
    /// they sum to 1.
    pub hourly_shares: Option<[f64; 24]>,
    /// Deleted items as a share of all items.
    pub deleted_share: Option<f64>,
    /// Mailboxes with an archive; no report gives the size of archives.
    pub archives: u64,
    /// Figures that the message profile script would print for the tracking logs.
    pub script: Option<ScriptFigures>,
    /// The files read, in reading order.
    pub files: Vec<FileReport>,
    /// Derivation of the numbers, one sentence each.
    pub rules: Vec<String>,
}

/// A group of similar mailboxes.
#[derive(Clone, Debug, PartialEq)]
pub struct TierProfile {
    /// Its name for people.
    pub name: String,
    /// Its mailboxes.
    pub mailboxes: u64,
    /// Messages that a mailbox sends and receives on a counted day.
    pub messages_per_day: f64,
    /// Average length of a message; `None` if no file has it.
    pub average_message: Option<Bytes>,
    /// Average current size of a mailbox; `None` if no file has it.
    pub initial_size: Option<Bytes>,
    /// Maximum size of a mailbox; `None` if no file has it.
    pub size_limit: Option<Bytes>,
}

/// The columns of Microsoft's message profile script, with its rounding: message counts are rounded
/// up individually, so that sent and received may exceed the total by one; kilobytes to the
/// nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptFigures {
    /// Messages sent and received per mailbox and day.
    pub total_messages: u64,
    /// Mean kilobytes of such a message.
    pub total_kilobytes: u64,
    /// Messages sent per mailbox and day.
    pub sent_messages: u64,
    /// Mean kilobytes of such a message.
    pub sent_kilobytes: u64,
    /// Messages received per mailbox and day.
    pub received_messages: u64,
    /// Mean kilobytes of such a message.
    pub received_kilobytes: u64,
}

impl Profile {
    /// Mailboxes of all tiers.
    pub fn mailboxes(&self) -> u64 {
        self.tiers.iter().map(|tier| tier.mailboxes).sum()
    }

    /// The busiest hour and its share.
    pub fn peak_hour(&self) -> Option<(usize, f64)> {
        let shares = self.hourly_shares?;
        let hours = shares.into_iter().enumerate();
        hours.max_by(|(_, left), (_, right)| left.total_cmp(right))
    }
}

/// Derives the profile from the counts of all files.
pub(super) fn combine(mut seen: Collector) -> Result<Profile, ProfileError> {
    let mut rules = Vec::new();
    let origin = choose_traffic(&mut seen, &mut rules);
    let count = mailbox_count(&seen, &mut rules).ok_or(ProfileError::NoMailboxes)?;
    let average_message = average_message(&seen, &mut rules);
    let mailboxes = std::mem::take(&mut seen.mailboxes);
    let tiers = if mailboxes.is_empty() && per_site(&seen) {
        of_sites(&seen, average_message, &mut rules)
    } else {
        let messages = messages_per_mailbox(&seen, (count, origin), &mut rules);
        let messages = messages.ok_or(ProfileError::NoMessages)?;
        of_sizes(&seen, &mailboxes, count, &mut rules)
            .into_iter()
            .map(|(name, mailboxes, initial_size, size_limit)| TierProfile {
                name,
                mailboxes,
                messages_per_day: messages,
                average_message,
                initial_size,
                size_limit,
            })
            .collect()
    };
    let used: u128 = mailboxes.iter().map(|mailbox| u128::from(mailbox.used)).sum();
    let deleted: u128 = mailboxes.iter().map(|mailbox| u128::from(mailbox.deleted)).sum();
    let share = deleted as f64 / (used + deleted) as f64;
    let archives = mailboxes.iter().filter(|mailbox| mailbox.archive).count();
    Ok(Profile {
        tiers,
        hourly_shares: hourly_shares(&seen, &mut rules),
        deleted_share: (used + deleted > 0).then_some(share),
        archives: archives as u64,
        script: script_figures(&seen.traffic, count),
        files: seen.files,
        rules,
    })
}

/// The kind of files that count messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrafficOrigin {
    Logs,
    Export,
    EmailStats,
}

impl TrafficOrigin {
    fn rule(self) -> &'static str {
        match self {
            Self::Logs => {
                "sent (RECEIVE, store driver) and received (DELIVER, per recipient) of the \
                 tracking logs"
            }
            Self::Export => {
                "sent (RECEIVE, store driver) and received (DELIVER, per recipient) of exported \
                 tracking"
            }
            Self::EmailStats => "sent and received totals of email_stats",
        }
    }
}

/// Chooses the best source of message counts: logs, exports and statistics of a day describe the
/// same messages.
fn choose_traffic(seen: &mut Collector, rules: &mut Vec<String>) -> TrafficOrigin {
    let mut origin = TrafficOrigin::Logs;
    let others = [
        (TrafficOrigin::Export, std::mem::take(&mut seen.exported)),
        (TrafficOrigin::EmailStats, std::mem::take(&mut seen.stats.traffic)),
    ];
    for (other, traffic) in others {
        if traffic.days.is_empty() {
            continue;
        }
        if seen.traffic.days.is_empty() {
            (origin, seen.traffic) = (other, traffic);
        } else {
            rules.push(format!("messages: not {}, as better files have them", other.rule()));
        }
    }
    let traffic = &seen.traffic;
    if traffic.has_lost_lists {
        rules.push(
            "recipients: the export has no addresses (System.String[]), only their number; \
             mailboxes that only receive are missing and those of the system are not left out; \
             export Recipients as @{n='Recipients';e={$_.Recipients -join ';'}}"
                .to_owned(),
        );
    }
    rules.extend(without_id(traffic));
    if !traffic.system.is_empty() {
        rules.push(format!(
            "system mailboxes left out: {}: {}",
            traffic.system.len(),
            traffic
                .system
                .iter()
                .map(String::as_str)
                .take(MOST_NAMES)
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    origin
}

/// Whether message profiles are the only source, in which case their sites become the tiers.
fn per_site(seen: &Collector) -> bool {
    !seen.sites.is_empty() && seen.traffic.days.is_empty() && seen.options.mailboxes.is_none()
}

fn mailbox_count(seen: &Collector, rules: &mut Vec<String>) -> Option<u64> {
    let of_sites: u64 = seen.sites.values().map(|site| site.mailboxes).sum();
    let counts = [
        (seen.options.mailboxes.unwrap_or(0), "given"),
        (seen.mailboxes.len() as u64, "those of the mailbox reports"),
        (of_sites, "the latest count of each site of the message profiles"),
        (seen.activity.mailboxes, "the users of the activity report"),
        (
            seen.traffic.mailboxes.len() as u64,
            "the addresses that sent or received something while the logs ran; idle mailboxes are \
             missing, so messages per mailbox are too high rather than too low",
        ),
    ];
    let (count, source) = counts.into_iter().find(|(count, _)| *count > 0)?;
    rules.push(format!("mailboxes: {count}, {source}"));
    Some(count)
}

/// Messages per mailbox on a counted day.
fn messages_per_mailbox(
    seen: &Collector,
    (count, origin): (u64, TrafficOrigin),
    rules: &mut Vec<String>,
) -> Option<f64> {
    let traffic = &seen.traffic;
    let days = traffic.days.len() as f64;
    if days > 0.0 {
        let kind = if seen.options.working_days_only { "working day" } else { "day" };
        let over = units::plural(traffic.days.len() as u64, kind);
        rules.push(format!("messages: {}, over {over} and {count} mailboxes", origin.rule()));
        if let Some(unique) = traffic.sent_unique {
            let each = (unique + traffic.received.messages) as f64 / days / count as f64;
            rules.push(format!(
                "messages: each copy that was sent counts; with a message once, however many \
                 recipients it has, they are {each:.1}"
            ));
        }
        let messages = traffic.sent.messages + traffic.received.messages;
        return Some(messages as f64 / days / count as f64);
    }
    if !seen.sites.is_empty() {
        rules.push(format!(
            "messages: those of all sites of the message profiles, over {count} mailboxes"
        ));
        let daily: f64 = seen.sites.values().map(SiteMail::messages_per_day).sum();
        return Some(daily / count as f64);
    }
    if seen.activity.mailboxes == 0 {
        return None;
    }
    let mut messages = seen.activity.messages_per_day / seen.activity.mailboxes as f64;
    if seen.options.working_days_only {
        messages *= WEEK / WORKING_WEEK;
        rules.push(
            "messages: sent and received of the activity report, as if all of them fell on five \
             days a week"
                .to_owned(),
        );
    } else {
        rules.push("messages: sent and received of the activity report per calendar day".into());
    }
    Some(messages)
}

/// How rows without a message id were counted.
fn without_id(traffic: &Traffic) -> Option<String> {
    let rows = traffic.without_id;
    (rows > 0).then(|| {
        let (word, verb) = if rows == 1 { ("row", "counts") } else { ("rows", "count") };
        format!(
            "messages: {rows} {word} without a message id {verb} too; if a log repeats them, they \
             count twice"
        )
    })
}

fn average_message(seen: &Collector, rules: &mut Vec<String>) -> Option<Bytes> {
    if let Some(given) = seen.options.average_message {
        rules.push("average message: given".to_owned());
        return Some(given);
    }
    let traffic = &seen.traffic;
    let of_logs = (
        traffic.sent.messages + traffic.received.messages,
        traffic.sent.bytes + traffic.received.bytes,
    );
    let of_sites = seen.sites.values().fold((0, 0), |(messages, bytes), site| {
        (messages + site.counted.messages, bytes + site.counted.bytes)
    });
    for ((messages, bytes), source) in [
        (of_logs, "bytes by messages of the files with messages"),
        (of_sites, "kilobytes by messages of the message profiles"),
    ] {
        if let Some(average) = u64::checked_div(bytes, messages) {
            rules.push(format!("average message: {source}"));
            return Some(Bytes(average));
        }
    }
    None
}

impl SiteMail {
    fn messages_per_day(&self) -> f64 {
        self.counted.messages as f64 / self.days as f64
    }
}

fn of_sites(
    seen: &Collector,
    average_message: Option<Bytes>,
    rules: &mut Vec<String>,
) -> Vec<TierProfile> {
    rules.push(
        "tiers: one per site of the message profiles; messages from their sums, not from their \
         averages, which are rounded up"
            .to_owned(),
    );
    let mut tiers = Vec::new();
    for (name, site) in &seen.sites {
        let length = site.counted.bytes.checked_div(site.counted.messages);
        tiers.push(TierProfile {
            name: name.clone(),
            mailboxes: site.mailboxes,
            messages_per_day: site.messages_per_day() / site.mailboxes as f64,
            average_message: seen.options.average_message.or(length.map(Bytes)).or(average_message),
            initial_size: None,
            size_limit: seen.options.size_limit,
        });
    }
    tiers
}

type Size = (String, u64, Option<Bytes>, Option<Bytes>);

/// Name, mailboxes, average length and limit of each tier.
fn of_sizes(
    seen: &Collector,
    mailboxes: &[Mailbox],
    count: u64,
    rules: &mut Vec<String>,
) -> Vec<Size> {
    let limit = seen.options.size_limit;
    if mailboxes.is_empty() {
        return vec![("all mailboxes".to_owned(), count, None, limit)];
    }
    let largest = mailboxes.iter().map(|mailbox| mailbox.used).max().unwrap_or(0);
    let rounded = Bytes::from_gib(largest.div_ceil(Bytes::from_gib(1).0).max(1));
    rules.push(match (limit, mailboxes.iter().any(|mailbox| mailbox.quota.is_some())) {
        (Some(_), _) => "size limit: given".to_owned(),
        (None, true) => format!(
            "tiers: one per quota, at most {MOST_TIERS}; the smallest joined the next larger quota"
        ),
        (None, false) => "size limit: the largest mailbox found, as no file names quotas; set \
                          yours in its place"
            .to_owned(),
    });
    let mut groups: Vec<(Bytes, u64, u128)> = Vec::new();
    let mut sorted: Vec<(Bytes, u64)> = mailboxes
        .iter()
        .map(|mailbox| (limit.or(mailbox.quota.map(Bytes)).unwrap_or(rounded), mailbox.used))
        .collect();
    sorted.sort_unstable();
    for (quota, used) in sorted {
        match groups.last_mut() {
            Some((of, count, sum)) if *of == quota => {
                *count += 1;
                *sum += u128::from(used);
            }
            _ => groups.push((quota, 1, u128::from(used))),
        }
    }
    join_smallest(&mut groups);
    scaled(groups, mailboxes.len() as u64, count)
}

/// Joins the smallest group with the next larger quota until there are few enough: a mailbox then
/// gets more space than it has, never less.
fn join_smallest(groups: &mut Vec<(Bytes, u64, u128)>) {
    while groups.len() > MOST_TIERS {
        let but_last = &groups[..groups.len() - 1];
        let smallest = but_last.iter().enumerate().min_by_key(|(_, group)| group.1);
        let at = smallest.map_or(0, |(at, _)| at);
        let (_, count, sum) = groups.remove(at);
        groups[at].1 += count;
        groups[at].2 += sum;
    }
}

/// The groups as tiers, scaled in proportion from the `found` mailboxes to the `wanted` ones.
fn scaled(groups: Vec<(Bytes, u64, u128)>, found: u64, wanted: u64) -> Vec<Size> {
    let several = groups.len() > 1;
    let mut tiers = Vec::new();
    for (quota, count, sum) in groups {
        let average = u64::try_from(sum / u128::from(count)).unwrap_or(u64::MAX);
        let name = if several { format!("up to {quota}") } else { "all mailboxes".to_owned() };
        let share = u128::from(count) * u128::from(wanted);
        let count = share.div_ceil(u128::from(found));
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        tiers.push((name, count, Some(Bytes(average)), Some(quota)));
    }
    tiers
}

/// Returns the share of each hour, rounded to millionths that sum to one; the rounding remainder
/// goes to the peak.
fn hourly_shares(seen: &Collector, rules: &mut Vec<String>) -> Option<[f64; 24]> {
    let of_messages = seen.traffic.hours.map(|count| count as f64);
    let (hours, rule) = match seen.log_hours {
        Some(hours) if hours.iter().sum::<f64>() > 0.0 => {
            (hours, "hourly shares: log files written in each hour, by the servers' clocks")
        }
        _ => (of_messages, "hourly shares: messages of the tracking logs in each hour"),
    };
    let sum: f64 = hours.iter().sum();
    if sum <= 0.0 {
        return None;
    }
    let offset = seen.options.utc_offset_hours;
    let clock = if seen.log_hours.is_none() { format!(", UTC{offset:+}") } else { String::new() };
    rules.push(format!("{rule}{clock}"));
    let mut shares = hours.map(|hour| (hour / sum * 1e6).floor());
    let left = 1e6 - shares.iter().sum::<f64>();
    let peak = shares.iter_mut().max_by(|left, right| left.total_cmp(right));
    *peak? += left;
    Some(shares.map(|share| share / 1e6))
}

/// Mean size in kilobytes, rounded twice as in the script: for all messages, and for one.
fn mean_kilobytes(bytes: u64, messages: u64) -> u64 {
    let all = (bytes + 512) / 1024;
    (2 * all + messages).checked_div(2 * messages).unwrap_or(0)
}

fn script_figures(traffic: &Traffic, mailboxes: u64) -> Option<ScriptFigures> {
    let days = traffic.days.len() as u64;
    if days == 0 {
        return None;
    }
    let mailbox_days = days * mailboxes;
    let (sent, received) = (traffic.sent, traffic.received);
    let total = sent.messages + received.messages;
    Some(ScriptFigures {
        total_messages: total.div_ceil(mailbox_days),
        total_kilobytes: mean_kilobytes(sent.bytes + received.bytes, total),
        sent_messages: sent.messages.div_ceil(mailbox_days),
        sent_kilobytes: mean_kilobytes(sent.bytes, sent.messages),
        received_messages: received.messages.div_ceil(mailbox_days),
        received_kilobytes: mean_kilobytes(received.bytes, received.messages),
    })
}
