//! Removes secrets from texts that leave the machine: values after words such as `token`, and
//! passwords in addresses.

/// Replaces each removed secret.
pub(super) const MARK: &str = "(removed)";

/// Words followed by a secret value.
const WORDS: [&str; 9] = [
    "secret",
    "password",
    "passwd",
    "token",
    "bearer",
    "api-key",
    "api_key",
    "apikey",
    "access_key",
];

/// Returns the text without secrets, and the number removed.
pub(super) fn redacted(text: &str) -> (String, u64) {
    let mut count = 0;
    let lines: Vec<String> = text.split('\n').map(|line| of_line(line, &mut count)).collect();
    (lines.join("\n"), count)
}

fn of_line(line: &str, count: &mut u64) -> String {
    let lower = line.to_ascii_lowercase();
    let mut spans: Vec<(usize, usize)> = WORDS
        .iter()
        .flat_map(|word| lower.match_indices(word).map(|(at, _)| at + word.len()))
        .filter_map(|end| value_behind(line, end))
        .chain(lower.match_indices("://").filter_map(|(at, _)| password_behind(line, at + 3)))
        .collect();
    spans.sort_unstable();
    let (mut kept, mut at) = (String::new(), 0);
    for (from, to) in spans {
        if from >= at {
            kept += &line[at..from];
            kept += MARK;
            at = to;
            *count += 1;
        }
    }
    kept + &line[at..]
}

/// Finds the value that follows a word: after `=`, `:` or a space, perhaps in quotes, and at least
/// six bytes long.
fn value_behind(line: &str, end: usize) -> Option<(usize, usize)> {
    let rest = &line[end..];
    let value = rest.trim_start_matches(['"', '\'', '\\', ' ', '=', ':']);
    let between = &rest[..rest.len() - value.len()];
    let has_value = between.contains(['=', ':']) || between == " ";
    let from = end + between.len();
    let length = value.find(|of: char| "\"'\\ ,;}]<&".contains(of)).unwrap_or(value.len());
    (has_value && length >= 6).then_some((from, from + length))
}

/// Finds the password in an address that starts at `begin`: between a colon and an `@`.
fn password_behind(line: &str, begin: usize) -> Option<(usize, usize)> {
    let rest = &line[begin..];
    let end =
        rest.find(|of: char| of.is_whitespace() || "/\"'<".contains(of)).unwrap_or(rest.len());
    let (login, _) = rest[..end].rsplit_once('@')?;
    let (user, password) = login.split_once(':')?;
    let from = begin + user.len() + 1;
    (!password.is_empty()).then_some((from, from + password.len()))
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn values_of_secrets_go_and_all_else_stays() {
        for (before, after, removed) in [
            (r#"{"token":"0123456789abcdef","iops":5}"#, r#"{"token":"(removed)","iops":5}"#, 1),
            (
                "curl -H 'Authorization: Bearer abcdef123'",
                "curl -H 'Authorization: Bearer (removed)'",
                1,
            ),
            ("PLIMSOLL_CHAP_SECRET=abcdefghijkl run", "PLIMSOLL_CHAP_SECRET=(removed) run", 1),
            ("nbd://user:pass@host/export", "nbd://user:(removed)@host/export", 1),
            ("iscsi://user@host:3260/iqn/0", "iscsi://user@host:3260/iqn/0", 0),
            ("passwords are short; tokens too", "passwords are short; tokens too", 0),
            ("password=hunter22&api_key=abcdefg", "password=(removed)&api_key=(removed)", 2),
        ] {
            assert_eq!(redacted(before), (after.to_owned(), removed));
        }
    }
}
