//! `iscsi` against a real `tgtd` on a separate socket and port, judged by the tools of libiscsi;
//! skipped with a message if either is missing or this is not root.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

const EX01: &str = "iqn.1991-05.com.microsoft:ex01";
const BACKUP: &str = "iqn.1991-05.com.microsoft:backup";

/// A `tgtd` in the folder of a scene, ended when dropped.
struct Target<'s> {
    scene: &'s Scene,
    child: Child,
    port: u16,
}

impl<'s> Target<'s> {
    fn start(scene: &'s Scene) -> Option<Self> {
        let has_judge = Command::new("iscsi-inq").arg("--help").output().is_ok();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("tgtd")
            .args(["--foreground", "-C", "7", "--iscsi", &format!("portal=127.0.0.1:{port}")])
            .env("TGT_IPC_SOCKET", scene.path("socket"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let (Ok(child), true) = (child, has_judge) else {
            eprintln!("skipped: tgtd (package tgt) or iscsi-inq (package libiscsi-bin) is missing");
            return None;
        };
        let mut target = Self { scene, child, port };
        for _ in 0..250 {
            if target.show().contains("State: ready") {
                return Some(target);
            }
            if target.child.try_wait().unwrap().is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        eprintln!("skipped: tgtd does not run here; it needs root");
        None
    }

    fn tgtadm(&self, words: &[&str]) -> String {
        let mut command = Command::new("tgtadm");
        command.args(["-C", "7", "--lld", "iscsi"]).args(words);
        let answer = command.env("TGT_IPC_SOCKET", self.scene.path("socket")).output().unwrap();
        String::from_utf8_lossy(&answer.stdout).into_owned()
    }

    fn show(&self) -> String {
        self.tgtadm(&["--mode", "sys", "--op", "show"])
            + &self.tgtadm(&["--mode", "target", "--op", "show"])
            + &self.tgtadm(&["--mode", "account", "--op", "show"])
    }

    fn write(&self, change: impl Fn(String) -> String) {
        let folder = self.scene.path("pool").display().to_string();
        let text = format!(
            "target = \"iqn.2026-01.org.example:mail\"\nportals = [\"127.0.0.1:{}\"]\ndag = true\n\
             authentication = \"mutual CHAP\"\nsmallest_lun = \"64MiB\"\ncontrol_port = 7\n\
             [[pool]]\nfolder = {folder:?}\n\
             [[initiator]]\nname = \"EX01\"\niqn = \"{EX01}\"\naddresses = [\"127.0.0.1\"]\n\
             [[initiator]]\nname = \"BACKUP\"\niqn = \"{BACKUP}\"\naccess = \"none\"\n\
             [[lun]]\nname = \"db1\"\nsize = \"128MiB\"\n\
             [[lun]]\nname = \"log1\"\nsize = \"64MiB\"\nholds = \"logs\"\n\
             read_write = [\"EX01\"]\nread = [\"BACKUP\"]\n",
            self.port
        );
        self.scene.write("luns.toml", change(text).as_bytes());
    }

    fn iscsi(&self, words: &[&str]) -> Ran {
        let mut command = self.scene.command(["iscsi"].iter().chain(words));
        Ran::of(&command.env("TGT_IPC_SOCKET", self.scene.path("socket")).output().unwrap())
    }

    /// What a tool of libiscsi says of a LUN, as `login` (`user%secret@`, or nothing) reaches it.
    fn judge(&self, tool: &str, initiator: &str, login: &str, target: &str, more: &str) -> Ran {
        let url = format!(
            "iscsi://{login}127.0.0.1:{}/iqn.2026-01.org.example:mail.{target}{more}",
            self.port
        );
        Ran::of(&Command::new(tool).args(["-i", initiator, &url]).output().unwrap())
    }

    fn secrets(&self) -> Value {
        serde_json::from_slice(&self.scene.read("luns.secrets.json")).unwrap()
    }

    fn set_secret(&self, secret: &str) {
        let mut secrets = self.secrets();
        secrets["initiators"][0]["secret"] = json!(secret);
        // The file keeps its mode.
        self.scene.write("luns.secrets.json", secrets.to_string().as_bytes());
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        // It does not end on SIGTERM while it has targets.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn luns_are_made_once_locked_grown_and_removed_whole() {
    let scene = Scene::new("luns");
    let Some(target) = Target::start(&scene) else {
        return;
    };
    target.write(|text| text);
    let before = target.show();
    target.iscsi(&["plan", "luns.toml"]).expect_code(0).expect_out(&["LUN 2   log1", "read/write"]);
    let applied = target.iscsi(&["apply", "luns.toml"]);
    applied.expect_code(0).expect_out(&["made ", "db1.lun"]);
    for file in ["luns.secrets.json", "luns.state.json", "pool/db1.lun"] {
        let mode = fs::metadata(scene.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let made = (target.show(), scene.snapshot());
    target.iscsi(&["apply", "luns.toml"]).expect_code(0).expect_out(&["Nothing to do"]);
    assert_eq!(target.show(), made.0);
    // The state is written anew, with the same bytes.
    let bytes = |of: &std::collections::BTreeMap<_, (_, Vec<u8>)>| {
        of.iter()
            .map(|(path, (_, bytes)): (&std::path::PathBuf, _)| (path.clone(), bytes.clone()))
            .collect::<Vec<_>>()
    };
    assert!(bytes(&scene.snapshot()) == bytes(&made.1), "the second time changes nothing");
    every_lun_is_as_planned(&target);
    chap_is_asked_for(&target);
    target.write(|text| text.replace("128MiB", "256MiB"));
    target.iscsi(&["apply", "luns.toml"]).expect_refusal(&["db1 is 128.0 MiB", "iscsi grow"]);
    let grown = target.iscsi(&["grow", "luns.toml"]);
    grown.expect_code(0).expect_out(&["128.0 MiB -> 256.0 MiB", "--rescan", "Resize-Partition"]);
    target.iscsi(&["grow", "luns.toml"]).expect_code(0).expect_out(&["Nothing to do"]);
    target.write(|text| text);
    target.iscsi(&["grow", "luns.toml"]).expect_refusal(&["no LUN is made smaller"]);
    target.iscsi(&["destroy", "luns.toml"]).expect_code(0).expect_out(&["removed ", "log1.lun"]);
    assert_eq!(target.show(), before);
    let left: Vec<String> = scene.listing().into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["luns.toml", "socket.7", "socket.7.lock"]);
    target.iscsi(&["destroy", "luns.toml"]).expect_refusal(&["luns.state.json: no such state"]);
}

/// As its initiators find it, and no more so once it has been changed by other hands.
fn every_lun_is_as_planned(target: &Target<'_>) {
    let verify = |words: &[&str]| target.iscsi(&[&["verify", "luns.toml"][..], words].concat());
    let as_planned = [
        "Authentication as planned",
        "Capacity as planned",
        "Access as planned",
        "A login with another secret",
        "A pattern, written and read",
        "read as it was written",
        "initiator and target, by CHAP",
    ];
    verify(&["--write"]).expect_code(0).expect_out(&as_planned);
    let told: Value = serde_json::from_str(&verify(&["--json"]).out).unwrap();
    let findings = told["findings"].as_array().unwrap();
    // Two LUNs for one initiator, one of them for the other, too.
    let access = findings.iter().filter(|finding| finding["check"] == "plan-access");
    let seen: Vec<&str> = access.map(|finding| finding["seen"].as_str().unwrap()).collect();
    assert_eq!(seen, ["read and write", "read and write", "read only"]);
    let shown = target.show();
    let line = shown.lines().find(|line| line.ends_with(":mail.ex01")).unwrap();
    let number = line.strip_prefix("Target ").unwrap().split(':').next().unwrap();
    let update = |parameter: &str| {
        let lun = ["--mode", "logicalunit", "--op", "update", "--tid", number, "--lun", "1"];
        target.tgtadm(&[&lun[..], &["--params", parameter]].concat());
    };
    update("readonly=1");
    verify(&[]).expect_code(1).expect_out(&["read only", "plimsoll iscsi apply"]);
    update("readonly=0");
    verify(&[]).expect_code(0);
}

/// Number and changes of the target of one initiator.
fn changed(target: &Target<'_>, end: &str, words: &[&str]) {
    let shown = target.show();
    let line = shown.lines().find(|line| line.ends_with(end)).unwrap();
    let number = line.strip_prefix("Target ").unwrap().split(':').next().unwrap();
    target.tgtadm(&[words, &["--tid", number]].concat());
}

/// Expects `words` in the answer, whose line breaks may fall anywhere.
fn expect_words(ran: &Ran, code: i32, words: &[&str]) {
    ran.expect_code(code);
    let flat: Vec<&str> = ran.out.split_whitespace().collect();
    for wanted in words {
        assert!(flat.join(" ").contains(wanted), "{wanted}: {}", ran.out);
    }
}

/// What the check of that name found of every target or LUN.
fn outcomes(ran: &Ran, check: &str) -> Vec<String> {
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let findings = told["findings"].as_array().unwrap().iter();
    let of = findings.filter(|finding| finding["check"] == check);
    of.map(|finding| finding["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_target_that_others_have_opened_is_not_as_planned() {
    let scene = Scene::new("luns-open");
    let Some(target) = Target::start(&scene) else {
        return;
    };
    // By name, and without secrets: every rule is the target's own.
    target.write(|text| {
        text.replace("mutual CHAP", "none").replace("addresses = [\"127.0.0.1\"]\n", "")
    });
    target.iscsi(&["apply", "luns.toml"]).expect_code(0);
    let verify = |words: &[&str]| target.iscsi(&[&["verify", "luns.toml"][..], words].concat());
    let fine = ["A login under another name", "LUNs beyond the plan", "A write of no blocks"];
    verify(&[]).expect_code(0).expect_out(&fine);
    assert_eq!(outcomes(&verify(&["--json"]), "plan-read-only"), ["pass"]);

    changed(&target, ":mail.ex01", &["--mode", "target", "--op", "bind", "-I", "ALL"]);
    expect_words(&verify(&[]), 1, &["let in", "lets in ALL", "plimsoll iscsi apply"]);
    let json = verify(&["--json"]);
    assert_eq!(outcomes(&json, "plan-stranger"), ["fail", "pass"]);
    target.iscsi(&["apply", "luns.toml"]).expect_code(0);
    verify(&[]).expect_code(0);

    let file = scene.path("theirs");
    scene.write("theirs", &vec![0; 1 << 20]);
    let add = ["--mode", "logicalunit", "--op", "new", "--lun", "7", "-b"];
    changed(&target, ":mail.ex01", &[&add[..], &[file.to_str().unwrap()]].concat());
    expect_words(&verify(&[]), 1, &["LUN 7 is not in the plan"]);
    let remove = ["--mode", "logicalunit", "--op", "delete", "--lun", "7"];
    changed(&target, ":mail.ex01", &remove);
    verify(&[]).expect_code(0);

    // The same file, offered to others by a target that the plan does not know.
    let iqn = "iqn.2026-01.org.example:other";
    target.tgtadm(&["--mode", "target", "--op", "new", "--tid", "9", "--targetname", iqn]);
    let ours = scene.path("pool/db1.lun");
    let again = ["--mode", "logicalunit", "--op", "new", "--tid", "9", "--lun", "1", "-b"];
    target.tgtadm(&[&again[..], &[ours.to_str().unwrap()]].concat());
    expect_words(&verify(&[]), 1, &["offered by iqn.2026-01.org.example:other, too"]);
    target.tgtadm(&["--mode", "target", "--op", "delete", "--force", "--tid", "9"]);
    verify(&[]).expect_code(0);

    let update = ["--mode", "logicalunit", "--op", "update", "--lun", "2", "--params"];
    changed(&target, ":mail.backup", &[&update[..], &["readonly=0"]].concat());
    assert_eq!(outcomes(verify(&["--json"]).expect_code(1), "plan-read-only"), ["fail"]);
    changed(&target, ":mail.backup", &[&update[..], &["readonly=1"]].concat());
    verify(&[]).expect_code(0);
}

#[test]
fn an_account_that_was_taken_away_lets_every_system_in() {
    let scene = Scene::new("luns-bare");
    let Some(target) = Target::start(&scene) else {
        return;
    };
    target.write(|text| {
        text.replace("mutual CHAP", "one-way CHAP").replace("addresses = [\"127.0.0.1\"]\n", "")
    });
    target.iscsi(&["apply", "luns.toml"]).expect_code(0);
    let verify = |words: &[&str]| target.iscsi(&[&["verify", "luns.toml"][..], words].concat());
    verify(&[]).expect_code(0).expect_out(&["A login without a secret"]);
    let unbind = ["--mode", "account", "--op", "unbind", "--user", "mail-EX01"];
    changed(&target, ":mail.ex01", &unbind);
    let json = verify(&["--json"]);
    assert_eq!(outcomes(json.expect_code(1), "plan-no-secret"), ["fail", "pass"]);
    // The account of another system.
    target.iscsi(&["apply", "luns.toml"]).expect_code(0);
    let made =
        ["--mode", "account", "--op", "new", "--user", "guest", "--password", "guestguest12"];
    target.tgtadm(&made);
    let bind = ["--mode", "account", "--op", "bind", "--user", "guest"];
    changed(&target, ":mail.ex01", &bind);
    expect_words(&verify(&[]), 1, &["takes the account guest"]);
}

#[test]
fn a_target_that_cannot_be_asked_for_its_rules_is_not_judged() {
    let scene = Scene::new("luns-mute");
    let Some(target) = Target::start(&scene) else {
        return;
    };
    target.write(|text| text);
    target.iscsi(&["apply", "luns.toml"]).expect_code(0);
    fs::rename(scene.path("socket.7"), scene.path("hidden")).unwrap();
    let verified = target.iscsi(&["verify", "luns.toml"]);
    fs::rename(scene.path("hidden"), scene.path("socket.7")).unwrap();
    let words = ["Access rules beyond the plan", "no tgtd answers there"];
    expect_words(&verified, 2, &words);
}

fn chap_is_asked_for(target: &Target<'_>) {
    let secrets = target.secrets();
    let of = |at: usize, key: &str| secrets["initiators"][at][key].as_str().unwrap().to_owned();
    let right = format!("mail-EX01%{}@", of(0, "secret"));
    let own = format!("/1?target_user=mail-EX01-target&target_password={}", of(0, "target_secret"));
    let inquire = |login: &str, more: &str| target.judge("iscsi-inq", EX01, login, "ex01", more);
    inquire(&right, "/1").expect_code(0);
    inquire(&right, &own).expect_code(0);
    let refused = |ran: &Ran| assert!(ran.err.contains("513"), "{}{}", ran.out, ran.err);
    refused(&inquire("mail-EX01%wrongwrong12@", "/1"));
    refused(&inquire("", "/1"));
    refused(&inquire(&format!("mail-BACKUP%{}@", of(1, "secret")), "/1"));
    let liar = inquire(&right, "/1?target_user=mail-EX01-target&target_password=wrongwrong12");
    assert!(liar.err.contains("Invalid CHAP_R"), "{}", liar.err);
    for (length, is_taken) in [(11, false), (12, true), (16, true), (17, false)] {
        let secret = &"abcdefghijklmnopq"[..length];
        target.set_secret(secret);
        let applied = target.iscsi(&["apply", "luns.toml"]);
        if is_taken {
            applied.expect_code(0);
            inquire(&format!("mail-EX01%{secret}@"), "/1").expect_code(0);
        } else {
            applied.expect_refusal(&["luns.secrets.json", "EX01", "12 to 16"]);
            assert!(!applied.err.contains(secret), "{}", applied.err);
        }
    }
    target.set_secret("abcdefghijklmnop");
    let capacity =
        target.judge("iscsi-readcapacity16", EX01, "mail-EX01%abcdefghijklmnop@", "ex01", "/1");
    capacity.expect_out(&["Total size:134217728"]);
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let scene = Scene::new("luns-foreign");
    let Some(target) = Target::start(&scene) else {
        return;
    };
    target.write(|text| text);
    target.tgtadm(&[
        "--mode",
        "target",
        "--op",
        "new",
        "--tid",
        "5",
        "--targetname",
        "iqn.2026-01.org.example:mail.ex01",
    ]);
    target.iscsi(&["apply", "luns.toml"]).expect_refusal(&["was not made here", "left alone"]);
    assert!(!scene.path("pool").exists(), "a refusal makes nothing");
    target.tgtadm(&["--mode", "target", "--op", "delete", "--tid", "5"]);
    target.iscsi(&["apply", "luns.toml"]).expect_code(0);
    let state = scene.read("luns.state.json");
    scene.write("precious", b"precious");
    let altered = String::from_utf8(state.clone()).unwrap().replace("pool/db1.lun", "precious");
    scene.write("luns.state.json", altered.as_bytes());
    for verb in ["destroy", "apply", "grow"] {
        target.iscsi(&[verb, "luns.toml"]).expect_refusal(&["was changed after it was written"]);
    }
    scene.write("luns.state.json", &state);
    fs::rename(scene.path("pool/db1.lun"), scene.path("kept")).unwrap();
    scene.write("pool/db1.lun", b"precious");
    let shown = target.show();
    target.iscsi(&["destroy", "luns.toml"]).expect_refusal(&["is not the file that was made"]);
    assert_eq!((target.show(), scene.read("pool/db1.lun")), (shown, b"precious".to_vec()));
    fs::rename(scene.path("kept"), scene.path("pool/db1.lun")).unwrap();
    fs::set_permissions(scene.path("luns.secrets.json"), fs::Permissions::from_mode(0o644))
        .unwrap();
    target.iscsi(&["destroy", "luns.toml"]).expect_refusal(&["others may read these secrets"]);
    fs::set_permissions(scene.path("luns.secrets.json"), fs::Permissions::from_mode(0o600))
        .unwrap();
    scene.write("pool/theirs", b"theirs");
    target
        .iscsi(&["destroy", "luns.toml"])
        .expect_code(0)
        .expect_err(&["was not made here, and stays"]);
    assert_eq!(scene.read("pool/theirs"), b"theirs");
    assert_eq!(scene.read("precious"), b"precious");
}

#[test]
fn without_a_target_nothing_is_made() {
    let scene = Scene::new("luns-alone");
    scene.run(["iscsi", "plan"]).expect_code(0).expect_out(&["[[initiator]]"]);
    let example = scene
        .run(["iscsi", "plan"])
        .out
        .replace("/srv/luns", &scene.path("pool").display().to_string());
    scene.write("luns.toml", example.as_bytes());
    let mut command = scene.command(["iscsi", "apply", "luns.toml"]);
    let ran = Ran::of(&command.env("TGT_IPC_SOCKET", scene.path("socket")).output().unwrap());
    ran.expect_refusal(&["socket.0: no tgtd answers there", "start it"]);
    assert_eq!(scene.listing().len(), 1, "{:?}", scene.listing());
    let lio = ["iscsi", "apply", "luns.toml", "--backend", "lio", "-o", "lio.json"];
    scene.run(lio).expect_code(0);
    let mode = fs::metadata(scene.path("lio.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for backend in ["open-iscsi", "esxi", "windows-initiator"] {
        let script = scene.run(["iscsi", "apply", "luns.toml", "--backend", backend]);
        script.expect_code(0);
        let secrets = String::from_utf8(scene.read("luns.secrets.json")).unwrap();
        let secrets: Value = serde_json::from_str(&secrets).unwrap();
        if backend != "windows-initiator" {
            scene.write("script", script.out.as_bytes());
            let shell = if backend == "esxi" { "sh" } else { "bash" };
            let mut read = Command::new(shell);
            read.args(["-n", "script"]).current_dir(&scene.folder);
            assert!(read.status().unwrap().success(), "{}", script.out);
            fs::remove_file(scene.path("script")).unwrap();
        }
        assert!(!script.out.contains(secrets["initiators"][0]["secret"].as_str().unwrap()));
    }
    scene.run(["iscsi", "apply", "luns.toml", "--backend", "lio"]).expect_code(64);
}
