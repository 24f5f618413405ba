//! Exchange's internal mailboxes, recognised by their names: they belong to no user, and mail to
//! them is no user's load.

/// The name of one of Exchange's own mailboxes.
struct SystemName {
    /// Lower-case prefix of its alias or display name.
    begins: &'static str,
    /// `true` if longer names with this prefix match as well.
    goes_on: bool,
    reason: &'static str,
}

const fn begins(begins: &'static str, reason: &'static str) -> SystemName {
    SystemName { begins, goes_on: true, reason }
}

const fn exactly(begins: &'static str, reason: &'static str) -> SystemName {
    SystemName { begins, goes_on: false, reason }
}

const ARBITRATION: &str = "an arbitration mailbox";
const DISCOVERY: &str = "a discovery mailbox";
const FEDERATION: &str = "a federation mailbox";
const MIGRATION: &str = "a migration mailbox";
/// Mailboxes of probes, which send messages to each other all day.
pub(super) const HEALTH: &str = "a health mailbox";
const AUDIT: &str = "an audit log mailbox";
const JOURNAL: &str = "a journal mailbox";
const QUARANTINE: &str = "a quarantine mailbox";
const SENDER: &str = "the sender of notices";

/// Aliases and display names, from Exchange 2007 to the Subscription Edition.
const NAMES: [SystemName; 22] = [
    begins("systemmailbox", ARBITRATION),
    begins("microsoft exchange approval assistant", ARBITRATION),
    begins("e4e encryption store", ARBITRATION),
    exactly("microsoft exchange", ARBITRATION),
    begins("discoverysearchmailbox", DISCOVERY),
    begins("discovery search mailbox", DISCOVERY),
    begins("federatedemail.", FEDERATION),
    begins("microsoft exchange federation mailbox", FEDERATION),
    begins("migration.", MIGRATION),
    begins("microsoft exchange migration", MIGRATION),
    begins("healthmailbox", HEALTH),
    begins("extest_", HEALTH),
    begins("auditlog", AUDIT),
    begins("auxauditlog", AUDIT),
    begins("supervisoryreviewpolicymailbox", AUDIT),
    exactly("journal", JOURNAL),
    exactly("journaling", JOURNAL),
    exactly("journalmailbox", JOURNAL),
    exactly("quarantine", QUARANTINE),
    exactly("quarantinemailbox", QUARANTINE),
    exactly("spamquarantine", QUARANTINE),
    // Followed by a number of 32 digits: the sender of quota warnings and delivery reports.
    begins("microsoftexchange329e71ec88ae4615bbc36ab6ce41109e", SENDER),
];

/// The system mailbox that `name`, an address, alias or display name, denotes; `None` for users.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    let name = name.trim().trim_matches(['<', '>', '"']).to_lowercase();
    let alias = name.rsplit_once('@').map_or(name.as_str(), |(alias, _)| alias);
    let known = NAMES.iter().find(|known| match alias.strip_prefix(known.begins) {
        Some(rest) => rest.is_empty() || known.goes_on && is_made_up(known, rest),
        None => false,
    });
    known.map(|known| known.reason)
}

/// `SystemMailboxes` may be a list of people: suffixes that Exchange generates begin with a word of
/// hexadecimal digits, a blank or one of `{(-_.`. After a prefix that ends in a dot or underscore,
/// any suffix matches.
fn is_made_up(known: &SystemName, rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let word = &rest[..end];
    known.begins.ends_with(['.', '_'])
        || rest.starts_with(|c: char| "{(-_. ".contains(c))
        || !word.is_empty() && word.chars().all(|c| c.is_ascii_hexdigit())
}

/// The system mailbox that `kind`, Exchange's own name for its type, denotes; `None` for users.
pub(super) fn of_kind(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "ArbitrationMailbox" => ARBITRATION,
        "DiscoveryMailbox" => DISCOVERY,
        "MonitoringMailbox" => HEALTH,
        "AuditLogMailbox" | "AuxAuditLogMailbox" | "SupervisoryReviewPolicyMailbox" => AUDIT,
        // The message profile script leaves these out, too.
        "EquipmentMailbox" => "an equipment mailbox",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::of_name;

    #[test]
    fn mailboxes_of_all_releases_are_known_by_name() {
        for (name, wanted) in [
            ("SystemMailbox{1f05a927-1111-4444-8888-000000000001}@contoso.test", "an arbitration"),
            ("SystemMailbox{e0dc1c29-2222-4444-8888-000000000002}", "an arbitration"),
            ("systemmailboxbb558c35@contoso.test", "an arbitration"),
            ("Microsoft Exchange Approval Assistant", "an arbitration"),
            ("DiscoverySearchMailbox{D919BA05-46A6-415F-80AD-7E09334BB852}@x.test", "a discovery"),
            ("Discovery Search Mailbox", "a discovery"),
            ("FederatedEmail.4c1f4d8b-8179-4148-93bf-00a95fa1e042@x.test", "a federation"),
            ("Migration.8f3e7716-2011-43e4-96b1-aba62d229136@x.test", "a migration"),
            ("<HealthMailbox83d6781@x.test>", "a health"),
            ("extest_1b2c3@x.test", "a health"),
            ("journal@x.test", "a journal"),
            ("SpamQuarantine@x.test", "a quarantine"),
            ("MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@x.test", "the sender"),
        ] {
            assert!(of_name(name).is_some_and(|found| found.starts_with(wanted)), "{name}");
        }
        for name in ["migration@x.test", "journalist@x.test", "quarantine.officer@x", "ann@x", ""] {
            assert_eq!(of_name(name), None, "{name}");
        }
        for name in ["systemmailboxowners@x.test", "systemmailboxes@x.test"] {
            assert_eq!(of_name(name), None, "{name}");
        }
    }
}
