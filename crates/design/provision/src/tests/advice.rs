//! Advice taken back as input: a change that a finding names by key and value removes the finding
//! and causes no other.

use plan::Deployment;
use plan::deployment::Replacement;
use proptest::prelude::*;
use proptest::sample::select;
use sizing::{DesignFinding, Key, Severity};

use crate::{size, size_unadvised};

/// The changes in brackets, such as `(data.databases = 2)`; `and` joins those needed together.
fn changes(remedy: &str) -> Vec<Vec<Replacement>> {
    let brackets = remedy.split('(').skip(1).filter_map(|rest| rest.split_once(')'));
    let change = |edit: &str| {
        let (key, value) = edit.split_once(" = ")?;
        let value = value.strip_suffix(" at most").unwrap_or(value);
        Some(Replacement { key: key.to_owned(), value: value.to_owned() })
    };
    let all = brackets.map(|(inside, _)| inside.split(" and ").filter_map(change).collect());
    all.filter(|edits: &Vec<_>| !edits.is_empty()).collect()
}

/// Deployments of which most violate a rule: products, builds, sites, lagged copies, slow and small
/// disks, narrow links.
fn documents() -> impl Strategy<Value = String> {
    let load = (
        select(&["2010", "2013", "2016", "2019", "SE"][..]),
        select(&[800_u32, 5_000, 12_000, 25_000, 60_000][..]),
        select(&[100_u32, 250, 500][..]),
        select(&["512MiB", "2GiB", "10GiB"][..]),
    );
    let servers = (2_u32..17, 2_u32..5, 0_u32..3, select(&["calculated", "raid", "jbod"][..]));
    let disks = (select(&["600GB", "2TB", "8TB"][..]), any::<[bool; 4]>(), 1_u32..40);
    (load, servers, disks).prop_map(|(load, servers, (disk, flags, volumes))| {
        let (product, mailboxes, messages, limit) = load;
        let (servers, copies, lagged, build) = servers;
        let [two_sites, halved, is_counted, is_virtual] = flags;
        let figures = match product {
            "2010" => "[figures]\nfrom = \"2013\"\n",
            "2019" | "SE" => "[figures]\nfrom = \"2016\"\n",
            _ => "",
        };
        let second = format!(
            "[second_site]\nmodel = \"active/active\"\ncopies = {copies}\n\
             lagged_copies = {lagged}\n[replication]\nlink_mbps = 34\n\
             hourly_percent = [{}]\n",
            ["4"; 22].join(", ") + ", 6, 6"
        );
        let second = if two_sites { second } else { String::new() };
        let given =
            if is_counted { format!("volumes_per_server = {volumes}\n") } else { String::new() };
        format!(
            "product = \"{product}\"\n{figures}[[tier]]\nmailboxes = {mailboxes}\n\
             messages_per_day = {messages}\nsize_limit = \"{limit}\"\n[availability]\n\
             servers_per_site = {servers}\ncopies = {}\nlagged_copies = {}\n[servers]\n\
             spec_rate = 300\nvirtual_machines = {is_virtual}\n[disks]\n\
             database = {{ size = \"{disk}\", type = \"7.2K SAS 3.5\" }}\n[storage]\n\
             build = \"{build}\"\ndatabases_equal_copies = {halved}\n{given}{second}",
            copies * (1 + u32::from(two_sites)),
            lagged * (1 + u32::from(two_sites)),
        )
    })
}

fn is_left(findings: &[DesignFinding], of: &DesignFinding) -> bool {
    findings.iter().any(|left| (left.key, left.severity) == (of.key, of.severity))
}

/// A warning or violation of `left` that is not among `findings`.
fn is_gained(findings: &[DesignFinding], left: &[DesignFinding]) -> bool {
    left.iter().any(|of| of.severity > Severity::Remark && !is_left(findings, of))
}

/// The number of changes that are advised, and those that keep their finding or cause another.
fn unhelpful(text: &str) -> Option<(usize, Vec<String>)> {
    let findings = size(&Deployment::parse("d.toml", text).ok()?).findings;
    let (mut tried, mut found) = (0, Vec::new());
    for of in findings.iter().filter(|of| of.severity > Severity::Remark) {
        for edits in changes(&of.remedy) {
            tried += 1;
            let changed = Deployment::parse_with("d.toml", text, &edits);
            let left = changed.map(|changed| size_unadvised(&changed).findings);
            if left.as_ref().map_or(true, |left| is_left(left, of) || is_gained(&findings, left)) {
                found.push(format!("{edits:?} of {of:?}: {:?}", left.err()));
            }
        }
    }
    Some((tried, found))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn advice_that_is_taken_removes_its_finding(text in documents()) {
        let found = unhelpful(&text).map_or_else(Vec::new, |(_, found)| found);
        prop_assert!(found.is_empty(), "{text}\n{found:#?}");
    }
}

/// A server would need 101 volumes, and a document may name 100.
#[test]
fn no_advice_is_refused_by_the_reader_of_documents() {
    let text = "product = \"2010\"\n[figures]\nfrom = \"2013\"\n[[tier]]\nmailboxes = 12000\n\
        messages_per_day = 100\nsize_limit = \"10GiB\"\n[availability]\nservers_per_site = 5\n\
        copies = 8\nlagged_copies = 2\n[servers]\nspec_rate = 300\nvirtual_machines = false\n\
        [disks]\ndatabase = { size = \"600GB\", type = \"7.2K SAS 3.5\" }\n[storage]\n\
        build = \"raid\"\ndatabases_equal_copies = false\nvolumes_per_server = 1\n[second_site]\n\
        model = \"active/active\"\ncopies = 4\nlagged_copies = 1\n";
    assert_eq!(unhelpful(text).map(|(_, found)| found), Some(Vec::new()));
    let findings = size(&Deployment::parse("d.toml", text).expect("a deployment")).findings;
    assert!(findings.iter().any(|of| of.text.contains("needs 101 volumes")), "{findings:?}");
}

/// Sixteen servers hold 96 databases each, too few for the I/O of six on a disk.
const TOO_BUSY: &str = "[[tier]]\nmailboxes = 25000\nmessages_per_day = 150\n\
    size_limit = \"4GiB\"\n[availability]\nservers_per_site = 8\ncopies = 4\nlagged_copies = 2\n\
    [second_site]\nmodel = \"active/active\"\ncopies = 2\nlagged_copies = 1\n\
    [servers]\ncores = 24\nspec_rate = 1100\n\
    [disks]\ndatabase = { size = \"8TB\", type = \"7.2K SAS 3.5\" }\n";

/// Both findings name I/O, whose remedy is not a larger disk; sites that are alike share one.
#[test]
fn a_limit_of_io_is_lifted_by_io() {
    let sizing = size(&Deployment::parse("d.toml", TOO_BUSY).expect("a deployment"));
    let of = |key: Key| {
        let found: Vec<_> = sizing.findings.iter().filter(|of| of.key == key).collect();
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        (found[0].text.clone(), found[0].remedy.to_string())
    };
    let (text, remedy) = of(Key::DatabaseMailboxes);
    assert!(text.contains("disk's I/O is enough for") && text.contains("by capacity"), "{text}");
    assert!(remedy.contains("random_iops") && !remedy.contains("TB disks"), "{remedy}");
    let (text, remedy) = of(Key::IoDbIopsPerDb);
    assert!(text.starts_with("insufficient I/O in both sites: "), "{text}");
    assert!(remedy.contains("random_iops"), "{remedy}");
    let (tried, found) = unhelpful(TOO_BUSY).expect("a deployment");
    assert!(tried > 3 && found.is_empty(), "{tried}: {found:#?}");
}

/// Far more mailboxes than the given databases hold, however large the disks are.
const TOO_MANY: &str = "[[tier]]\nmailboxes = 20000\nmessages_per_day = 200\n\
    size_limit = \"100GiB\"\n[[tier]]\nmailboxes = 10\nmessages_per_day = 50\n\
    size_limit = \"1GiB\"\n[availability]\nservers_per_site = 8\ncopies = 3\n[data]\n\
    databases = 100\n[servers]\ncores = 16\nspec_rate = 540\n";

/// The size of databases follows from their number if it is given, and no disk on sale is as large
/// as these volumes: the advice has numbers, and removes its finding.
#[test]
fn a_volume_too_large_for_every_disk_is_not_blamed_on_the_largest_database() {
    let sizing = size(&Deployment::parse("d.toml", TOO_MANY).expect("a deployment"));
    let of = |key: Key| {
        let all = sizing.findings.iter().filter(|of| of.severity == Severity::Violation);
        all.filter(|of| of.key == key).map(|of| of.remedy.to_string()).collect::<String>()
    };
    let volume = of(Key::VolumeDbVolumeGb);
    assert!(volume.contains("(storage.build = \"raid\")"), "{volume}");
    assert!(!volume.contains("largest_database") && !volume.contains("larger disks"), "{volume}");
    let mailboxes = of(Key::DatabaseMailboxes);
    assert!(mailboxes.contains("(tier.1.mailboxes = "), "{mailboxes}");
    assert!(mailboxes.contains(" and tier.2.mailboxes = "), "{mailboxes}");
    let (tried, found) = unhelpful(TOO_MANY).expect("a deployment");
    assert!(tried > 3 && found.is_empty(), "{tried}: {found:#?}");
}

/// A fix that is joined to others by "or" is enough by itself: it has a key and a value to size.
#[test]
fn every_alternative_can_be_sized() {
    for text in [TOO_BUSY, TOO_MANY] {
        let sizing = size(&Deployment::parse("d.toml", text).expect("a deployment"));
        for of in sizing.findings.iter().filter(|of| of.severity == Severity::Violation) {
            assert_eq!(of.remedy.split(", or ").count(), changes(&of.remedy).len(), "{of:?}");
        }
    }
}

/// Processors and volumes are short, and servers may be added in place of either.
#[test]
fn more_servers_are_advised_if_they_are_enough() {
    let text = "[[tier]]\nmailboxes = 12000\nmessages_per_day = 200\nsize_limit = \"2GiB\"\n\
        [availability]\nservers_per_site = 4\ncopies = 2\n[servers]\nspec_rate = 300\n[storage]\n\
        volumes_per_server = 8\n";
    let sizing = size(&Deployment::parse("d.toml", text).expect("a deployment"));
    let of = |key: Key| {
        let found = sizing.findings.iter().find(|of| of.key == key);
        found.map(|of| of.remedy.to_string()).unwrap_or_default()
    };
    let processors = of(Key::ProcessorUtilWorstPlayed);
    assert!(processors.contains("(servers.spec_rate = "), "{processors}");
    assert!(processors.contains("(availability.servers_per_site = "), "{processors}");
    let volumes = of(Key::VolumeTotalPerServer);
    assert!(volumes.contains("(storage.volumes_per_server = "), "{volumes}");
    assert_eq!(unhelpful(text).map(|(_, found)| found), Some(Vec::new()));
}

/// The queue database is larger than the system disk that is given, until it keeps less.
#[test]
fn a_shorter_safety_net_is_advised_only_if_the_queue_then_fits() {
    let text = |system: &str| {
        format!(
            "[[tier]]\nmailboxes = 20000\nmessages_per_day = 150\nsize_limit = \"2GiB\"\n\
             [availability]\nservers_per_site = 4\ncopies = 2\n[disks]\n{system}\n"
        )
    };
    let given = text("system = { size = \"600GB\", type = \"10K SAS 2.5\" }");
    for (text, is_advised) in [(given, true), (text(""), false)] {
        let sizing = size(&Deployment::parse("d.toml", &text).expect("a deployment"));
        let found = sizing.findings.iter().find(|of| of.text.starts_with("the queue database"));
        let remedy = &found.expect("a finding").remedy;
        assert_eq!(remedy.contains("safety_net"), is_advised, "{remedy}");
        assert_eq!(unhelpful(&text).map(|(_, found)| found), Some(Vec::new()));
    }
}
