//! Names in commands, paths and messages of the protocol: their valid characters are decided here,
//! so that every script is safe.

/// Maximum characters of a name that becomes part of a target, an account and a file name.
const LONGEST_LABEL: usize = 32;
/// Maximum bytes of a target or initiator name. Source: RFC 7143, 4.2.7.
const LONGEST_IQN: usize = 223;

/// The error in the name of a pool, an initiator or a LUN, if any.
pub(super) fn label_fault(name: &str) -> Option<&'static str> {
    let sound = name.len() <= LONGEST_LABEL
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter));
    (!sound).then_some(
        "is no name for a part of a target: give up to 32 letters, digits, dots, dashes and \
         underscores, a letter or a digit first",
    )
}

/// The error in the name of a target or an initiator, if any.
pub(super) fn iqn_fault(name: &str) -> Option<&'static str> {
    if name.len() > LONGEST_IQN {
        return Some("is longer than 223 bytes, as no name of iSCSI may be; shorten it");
    }
    (!is_iqn(name) && !is_eui(name)).then_some(
        "is no name of iSCSI; give `iqn.`, a year and a month in which the domain was yours, the \
         domain turned round, then a colon and anything of small letters, digits, dots, dashes and \
         colons, such as \"iqn.2026-01.org.example:mail\"",
    )
}

fn is_iqn(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("iqn.") else {
        return false;
    };
    let Some((date, rest)) = rest.split_once('.') else {
        return false;
    };
    let (authority, own) = rest.split_once(':').unwrap_or((rest, "x"));
    is_date(date) && is_part(authority, ".-") && is_part(own, ".-:")
}

/// Whether `text` consists of lower-case letters, digits and the characters in `more`.
fn is_part(text: &str, more: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || more.contains(letter)
        })
}

/// A year and a month: `2026-01`.
fn is_date(text: &str) -> bool {
    let Some((year, month)) = text.split_once('-') else {
        return false;
    };
    let is_digits = [year, month].concat().bytes().all(|byte| byte.is_ascii_digit());
    is_digits
        && (year.len(), month.len()) == (4, 2)
        && (1..=12).contains(&month.parse().unwrap_or(0))
}

fn is_eui(name: &str) -> bool {
    name.strip_prefix("eui.")
        .is_some_and(|id| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
