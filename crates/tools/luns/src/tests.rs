//! Checks designs, rules, seals and steps, all without a target.

use plan::LunDocument;
use plan::luns::{ChapMode, LunContent};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use units::Bytes;

use crate::secret::InitiatorSecrets;
use crate::tgt::{Revision, TgtConflict, TgtLive, TgtStep, WantedLuns, removal, steps};
use crate::{
    FileProof, InitiatorSystem, LunDesign, LunRecord, LunSeverity, LunState, Numbers, SECRET_BYTES,
    SecretFault, SecretFile, StateFault, check, connect_script, made_secret, saved_configuration,
    target_script,
};

const DOCUMENT: &str = r#"
target = "iqn.2026-01.org.example:mail"
portals = ["10.0.0.10:3260", "10.0.1.10:3260"]
dag = true

[[pool]]
folder = "/D/luns"

[[initiator]]
name = "EX01"
iqn = "iqn.1991-05.com.microsoft:ex01"
addresses = ["10.0.0.21"]

[[initiator]]
name = "BACKUP"
iqn = "iqn.1991-05.com.microsoft:backup"
access = "none"

[[lun]]
name = "db1"
size = "1214GiB"
content = "971GiB"

[[lun]]
name = "log1"
size = "75GiB"
holds = "logs"
"#;

/// Output of `tgtd` 1.0.85 for two LUNs, one of which is not ours.
const SHOWN: &str = "\
Target 7: iqn.2026-01.org.example:mail.ex01
    System information:
        Driver: iscsi
        State: ready
    I_T nexus information:
        I_T nexus: 5
            Initiator: iqn.1991-05.com.microsoft:ex01 alias: ex01
            Connection: 0
                IP Address: 10.0.0.21
    LUN information:
        LUN: 0
            Type: controller
            Backing store path: None
        LUN: 1
            Type: disk
            SCSI SN: abcdef
            Readonly: Yes
            Backing store path: /D/luns/db1.lun
            Backing store flags: 
    Account information:
        mail-EX01
        mail-EX01-target (outgoing)
    ACL information:
        10.0.0.21
        iqn.x:y
";

fn design_of(text: &str) -> LunDesign {
    let document = LunDocument::parse("luns.toml", text).unwrap();
    LunDesign::of(&document, None, &Numbers::default()).unwrap()
}

fn state() -> LunState {
    LunState::new("0123456789abcdef0123456789abcdef".to_owned(), "/run/socket.0".to_owned())
}

fn made(design: &LunDesign) -> LunState {
    let record = |lun: &crate::DesignedLun| LunRecord {
        name: lun.name.clone(),
        number: lun.number,
        file: lun.file.clone(),
        size_bytes: lun.size.0,
        proof: FileProof { number: "1".to_owned(), born: None },
    };
    let mut state = state();
    state.luns = design.luns.iter().map(record).collect();
    state.targets = design.targets.iter().map(|target| target.iqn.clone()).collect();
    state
}

fn wanted<'a>(design: &'a LunDesign, state: &'a LunState) -> WantedLuns<'a> {
    WantedLuns { design, state, changed: &[], forced: false }
}

#[test]
fn each_initiator_has_a_target_with_what_it_may_reach() {
    let design = design_of(&DOCUMENT.replace(
        "holds = \"logs\"",
        "holds = \"logs\"\nread_write = [\"EX01\"]\nread = [\"BACKUP\"]",
    ));
    assert_eq!(design.luns[0].file, "/D/luns/db1.lun");
    let [ex01, backup] = &design.targets[..] else { panic!("two targets") };
    assert_eq!(ex01.iqn, "iqn.2026-01.org.example:mail.ex01");
    assert!(ex01.luns.iter().all(|lun| !lun.is_read_only) && ex01.luns.len() == 2);
    assert!(backup.luns.iter().all(|lun| lun.is_read_only && lun.number == 2));
}

#[test]
fn luns_keep_their_numbers() {
    let document = LunDocument::parse("luns.toml", DOCUMENT).unwrap();
    let numbers = Numbers(vec![("log1".to_owned(), 4), ("gone".to_owned(), 9)]);
    let design = LunDesign::of(&document, None, &numbers).unwrap();
    let numbers: Vec<u64> = design.luns.iter().map(|lun| lun.number).collect();
    assert_eq!(numbers, [10, 4], "a new LUN has a number that was never given");
}

#[test]
fn what_ends_badly_is_a_violation() {
    assert_eq!(check(&design_of(DOCUMENT)), []);
    for (from, to, expected) in [
        ("971GiB", "980GiB", "80 % is the most"),
        ("1214GiB", "4TiB\"\ncontent = \"2100GiB\"#", "2 TiB is the most"),
        ("75GiB", "15GiB", "less than the smallest LUN"),
        ("\"75GiB\"", "\"80530636801\"", "end is not aligned"),
        ("dag = true", "dag = false", "share the disks"),
        ("access = \"none\"", "access = \"read/write\"", "is destroyed"),
    ] {
        let text = DOCUMENT.replacen(from, to, 1).replace("#\"\ncontent = \"971GiB\"", "");
        let findings = check(&design_of(&text));
        let is_found = findings
            .iter()
            .any(|one| one.severity == LunSeverity::Violation && one.text.contains(expected));
        assert!(is_found, "{to}: {findings:?}");
    }
    for (from, to, expected) in [
        (", \"10.0.1.10:3260\"", "", "only portal"),
        ("dag = true", "dag = true\nauthentication = \"none\"", "without CHAP"),
        ("dag = true", "dag = true\nallocation_unit = \"4KiB\"", "allocation unit"),
        ("holds = \"logs\"", "holds = \"logs\"\nread = [\"EX01\"]", "is written by no initiator"),
    ] {
        let findings = check(&design_of(&DOCUMENT.replacen(from, to, 1)));
        assert!(findings.iter().any(|one| one.text.contains(expected)), "{to}: {findings:?}");
        assert!(findings.iter().all(|one| one.severity == LunSeverity::Warning), "{findings:?}");
    }
}

/// The published report of the `VNXe3300`: 1,000 mailboxes of 1.5 GB in two databases on seven
/// disks.
const PUBLISHED: &str = r#"
product = "2013"
[[tier]]
mailboxes = 1000
messages_per_day = 200
size_limit = "1.5GiB"
iops = 0.2
[availability]
servers_per_site = 2
copies = 2
[data]
databases = 2
symmetrical = false
[disks]
database = { size = "600GB", type = "15K SAS 3.5" }
[storage]
raid = "RAID-5"
raid5_group = "6+1"
"#;

#[test]
fn the_published_array_has_its_published_luns() {
    let deployment = plan::Deployment::parse("d", PUBLISHED).unwrap();
    let sizing = provision::size(&deployment);
    let needs =
        provision::Requirements::of(&deployment, &sizing.sheet, sizing.architecture).unwrap();
    let made = provision::provision(needs.on_array(&provision::array::VNXE3300).unwrap()).unwrap();
    let text = DOCUMENT
        .split("[[lun]]")
        .next()
        .unwrap()
        .replace("[[pool]]", "deployment = \"d\"\n[[pool]]");
    let names: Vec<&str> = made.groups[0].servers.iter().map(|one| one.name.as_str()).collect();
    let text = text
        .replace("\"EX01\"", &format!("{:?}", names[0]))
        .replace("\"BACKUP\"", &format!("{:?}", names[1]));
    let document = LunDocument::parse("luns.toml", &text).unwrap();
    let design = LunDesign::of(&document, Some(&made), &Numbers::default()).unwrap();
    let near = |size: Bytes, wanted: f64| (size.0 as f64 / wanted - 1.0).abs() < 0.02;
    for lun in &design.luns {
        let wanted = match lun.holds {
            LunContent::Databases => 1.186 * 1_099_511_627_776.0,
            LunContent::Logs | LunContent::Other => 75.0 * 1_073_741_824.0,
        };
        assert!(near(lun.size, wanted), "{}: {}", lun.name, lun.size);
    }
    assert_eq!(design.luns.len(), 8);
    assert_eq!(check(&design), []);
}

fn secrets(one: &str, two: &str) -> SecretFile {
    let initiators = vec![InitiatorSecrets {
        initiator: "EX01".to_owned(),
        secret: one.to_owned(),
        target_secret: two.to_owned(),
    }];
    SecretFile { initiators, ..SecretFile::default() }
}

#[test]
fn secrets_have_12_to_16_plain_characters_and_one_use() {
    for length in [12, 16] {
        assert_eq!(secrets(&"abcdefghijklmnopq"[..length], "").check(), Ok(()));
    }
    for length in [11, 17] {
        let fault = secrets(&"abcdefghijklmnopq"[..length], "").check();
        assert!(matches!(fault, Err(SecretFault::Length { found, .. }) if found == length));
    }
    for odd in ["abcdef ghijkl", "abcdef'ghijkl", "abcdef\"ghijkl", "abcdef\u{e9}ghijkl"] {
        assert!(matches!(secrets(odd, "").check(), Err(SecretFault::Signs { .. })), "{odd}");
    }
    let twice = secrets("abcdefghijkl", "abcdefghijkl").check().unwrap_err();
    assert!(matches!(twice, SecretFault::Repeated { .. }));
    assert!(
        !twice.to_string().contains("abcdef")
            && !format!("{:?}", secrets("abcdefghijkl", "")).contains("abc")
    );
}

#[test]
fn a_state_that_was_changed_proves_nothing() {
    let text = made(&design_of(DOCUMENT)).to_text("key");
    assert_eq!(LunState::parse(&text, "key"), Ok(made(&design_of(DOCUMENT))));
    for (text, key) in [
        (text.replace("/D/luns/db1.lun", "/etc/shadow"), "key"),
        (text.clone(), "another key"),
        (text, ""),
    ] {
        assert_eq!(LunState::parse(&text, key), Err(StateFault::Altered));
    }
    // A seal made with an empty key is rejected too.
    let unkeyed = state().to_text("");
    assert_eq!(LunState::parse(&unkeyed, ""), Err(StateFault::Altered));
    assert!(matches!(LunState::parse("{}", "key"), Err(StateFault::Unreadable { .. })));
}

#[test]
fn what_tgtd_says_is_read() {
    let live = TgtLive::parse(
        SHOWN,
        "Account list:\n    mail-EX01\n",
        "Portal: [::]:3260,1\nPortal: 0.0.0.0:3260,1\n",
    );
    let target = live.target("iqn.2026-01.org.example:mail.ex01").unwrap();
    assert_eq!((target.number, target.luns.len()), (7, 1));
    assert_eq!(
        (target.luns[0].file.as_str(), target.luns[0].is_read_only),
        ("/D/luns/db1.lun", true)
    );
    assert_eq!(target.sessions, ["iqn.1991-05.com.microsoft:ex01"]);
    assert_eq!(
        (&target.accounts[..], &target.own_accounts[..]),
        (&["mail-EX01".to_owned()][..], &["mail-EX01-target".to_owned()][..])
    );
    assert_eq!(target.admitted, ["10.0.0.21", "iqn.x:y"]);
    assert_eq!((live.accounts.len(), live.portals.len()), (1, 2));
}

#[test]
fn what_was_not_made_here_is_neither_changed_nor_removed() {
    let design = design_of(DOCUMENT);
    let live = TgtLive::parse(SHOWN, "Account list:\n    mail-EX01\n", "");
    let foreign = steps(wanted(&design, &state()), &live, Revision::Keep);
    assert!(matches!(foreign, Err(TgtConflict::ForeignAccount { .. })), "{foreign:?}");
    let unknown = TgtLive { accounts: Vec::new(), ..live.clone() };
    let foreign = steps(wanted(&design, &state()), &unknown, Revision::Keep);
    assert!(matches!(foreign, Err(TgtConflict::ForeignTarget { .. })), "{foreign:?}");
    let state = made(&design);
    let in_use = removal(&state, &live, false);
    assert!(matches!(in_use, Err(TgtConflict::InUse { .. })), "{in_use:?}");
    assert_eq!(removal(&state, &live, true).map(|steps| steps.len()), Ok(1));
    let other = SHOWN.replace("/D/luns/db1.lun", "/srv/precious.img");
    let other = TgtLive::parse(&other, "", "");
    for forced in [false, true] {
        let foreign = removal(&state, &other, forced);
        assert!(matches!(foreign, Err(TgtConflict::ForeignLun { .. })), "{foreign:?}");
    }
}

#[test]
fn no_initiator_is_let_in_before_the_lock_is_there() {
    let design = design_of(DOCUMENT);
    let state = made(&design);
    let all = steps(wanted(&design, &state), &TgtLive::default(), Revision::Keep).unwrap();
    let at = |is: fn(&TgtStep) -> bool| all.iter().position(is).unwrap();
    assert!(
        at(|one| matches!(one, TgtStep::Bind { .. }))
            < at(|one| matches!(one, TgtStep::Offer { .. }))
    );
    assert!(
        at(|one| matches!(one, TgtStep::Describe { .. }))
            < at(|one| matches!(one, TgtStep::Admit { .. }))
    );
    // An account is dropped and created again. In between its target has none and would admit every
    // initiator, so it must be shut.
    let live = TgtLive::parse(SHOWN, "Account list:\n    mail-EX01\n", "Portal: 0.0.0.0:3260,1");
    let known = crate::AccountMark { account: "mail-EX01".to_owned(), mark: String::new() };
    let mut state = state;
    state.accounts = vec![known];
    let changed = ["mail-EX01".to_owned()];
    let anew = WantedLuns { changed: &changed, ..wanted(&design, &state) };
    let all = steps(anew, &live, Revision::Keep).unwrap();
    let at = |is: fn(&TgtStep) -> bool| all.iter().position(is).unwrap();
    let (shut, drop) = (
        at(|one| matches!(one, TgtStep::Shut { .. })),
        at(|one| matches!(one, TgtStep::DropAccount { .. })),
    );
    let (bind, admit) = (
        at(|one| matches!(one, TgtStep::Bind { .. })),
        at(|one| matches!(one, TgtStep::Admit { .. })),
    );
    assert!(shut < drop && drop < bind && bind < admit, "{all:?}");
}

#[test]
fn scripts_hold_no_secret_and_say_what_they_cannot_do() {
    let text = DOCUMENT.replace("dag = true", "dag = true\nauthentication = \"mutual CHAP\"");
    let design = design_of(&text);
    assert_eq!(design.authentication, ChapMode::Mutual);
    let windows = target_script(&design).unwrap();
    for part in [
        "New-IscsiVirtualDisk -Path 'D:\\luns\\db1.vhdx' -SizeBytes 1303522574336",
        "New-IscsiServerTarget -TargetName 'EX01' -InitiatorIds 'IPAddress:10.0.0.21'",
        "-EnableReverseChap $true",
    ] {
        assert!(windows.contains(part), "{part}: {windows}");
    }
    let system = |system| connect_script(&design, &design.targets[0], system);
    assert!(system(InitiatorSystem::OpenIscsi).contains(
        "/etc/iscsi/nodes/'iqn.2026-01.org.example:mail.ex01'/'10.0.0.10,3260',*/default"
    ));
    assert!(system(InitiatorSystem::Esxi).contains("--direction=mutual"));
    assert!(system(InitiatorSystem::Windows).contains("-AuthenticationType MUTUALCHAP"));
    let secrets = secrets("abcdefghijkl", "mnopqrstuvwx");
    let lio = saved_configuration(&design, &secrets, &state());
    assert_eq!(
        lio["targets"][0]["tpgs"][0]["node_acls"][0]["chap_mutual_password"],
        "mnopqrstuvwx"
    );
    assert_eq!(lio["storage_objects"][1]["size"], Bytes::from_gib(75).0);
    let read = design_of(&DOCUMENT.replacen("access = \"none\"", "access = \"read\"", 1));
    assert!(target_script(&read).unwrap_err().to_string().contains("BACKUP"));
}

proptest! {
    #[test]
    fn a_made_secret_keeps_the_rules(random: [u8; SECRET_BYTES]) {
        let secret = made_secret(&random);
        prop_assert_eq!(secret.len(), 16);
        prop_assert!(secrets(&secret, "").check().is_ok());
    }

    #[test]
    fn no_words_of_a_target_panic(text in "(\\PC|\n){0,200}") {
        let _ = TgtLive::parse(&text, &text, &text);
    }
}
