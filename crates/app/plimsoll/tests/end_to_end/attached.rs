//! Databases on LUNs of a real `tgtd`, where it is installed and this is root; else skipped aloud.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use testkit::tgt::{TARGET, Tgt};

use crate::scene::{Ran, Scene};

const LUN_BYTES: u64 = 512 << 20;

const SECRET: &str = "abcdefghijkl";
const OWN_SECRET: &str = "mnopqrstuvwxyz12";

/// A target with one LUN, and its address.
fn target(scene: &Scene) -> Option<(Tgt, String)> {
    let target = Tgt::start(&scene.folder)?;
    target.add_lun(1, LUN_BYTES);
    let address = target.address(None, 1);
    Some((target, address))
}

/// The same with two databases on it.
fn prepared(scene: &Scene) -> Option<(Tgt, String)> {
    let (target, lun) = target(scene)?;
    scene.run(["format", &lun]).expect_code(0);
    scene.write_plan(&lun);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    Some((target, lun))
}

fn with_secrets(command: &mut Command, secret: Option<&str>, own: Option<&str>) -> Ran {
    for (name, value) in [("PLIMSOLL_CHAP_SECRET", secret), ("PLIMSOLL_CHAP_TARGET_SECRET", own)] {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ran::of(&command.output().unwrap())
}

/// The answer without the breaks of its lines.
fn words(ran: &Ran) -> String {
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn databases_on_a_lun_are_filled_loaded_and_checked() {
    let scene = Scene::new("lun");
    let Some((_target, lun)) = target(&scene) else {
        return;
    };
    scene.write_plan(&lun);
    let blank = [&lun[..], "holds nothing, not a volume of Plimsoll", "`plimsoll format`"];
    scene.run(["prepare", "plan.toml"]).expect_refusal(&blank);
    scene.run(["format", &lun]).expect_code(0).expect_out(&["503.0 MiB for files"]);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    let files = [1, 2].map(|number| format!("{lun}/Plimsoll00{number}.edb"));
    scene.run(["check", &files[0], &files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
    // Two seconds prove nothing; the findings depend on the machine.
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]).expect_code(2);
    let journal = String::from_utf8(scene.read("run/record.jsonl")).unwrap();
    assert!(journal.contains(&format!("\"size_bytes\":{LUN_BYTES},")), "size of the LUN");
    for verb in ["verify", "header", "space"] {
        scene.run([verb, &files[0]]).expect_code(0);
    }
    scene.run(["check", &files[0], &files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
    scene.kill_run(&["run", "plan.toml"]);
    scene.run(["check", &files[0]]).expect_code(2).expect_out(&["first"]);
    scene.run(["recover", &files[0]]).expect_code(0);
    scene.run(["check", &files[0]]).expect_code(0).expect_out(&[", 0 bad"]);
    scene.run(["format", &lun, "--force"]).expect_code(0);
    let quick = ["quick", &lun, "--size", "16MiB", "--duration", "3s", "--quiet"];
    scene.run(quick).expect_code(2).expect_out(&["Measured time"]);
    scene.run(["check", &files[0], &files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
}

#[test]
fn a_lun_that_a_run_uses_is_not_taken_by_another() {
    let scene = Scene::new("held-lun");
    let Some((_target, lun)) = prepared(&scene) else {
        return;
    };
    let mut run = scene.start_load(&["run", "plan.toml"]);
    let busy = [&lun[..], "in use by another plimsoll process"];
    scene.run(["check", &format!("{lun}/Plimsoll001.edb")]).expect_refusal(&busy);
    scene.run(["format", "--force", &lun]).expect_refusal(&busy);
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn a_lun_that_can_only_be_read_is_refused_for_writes_and_read() {
    let scene = Scene::new("read-only-lun");
    let Some((target, lun)) = prepared(&scene) else {
        return;
    };
    target.set(1, "readonly=1");
    let before = fs::read(target.disk(1)).unwrap();
    let refused = [&lun[..], "takes no writes", "offer it for writing"];
    scene.run(["format", "--force", &lun]).expect_refusal(&refused);
    scene.run(["quick", &lun, "--size", "16MiB"]).expect_refusal(&refused);
    scene.run(["run", "plan.toml"]).expect_refusal(&refused);
    let file = format!("{lun}/Plimsoll001.edb");
    scene.run(["check", &file]).expect_code(0).expect_out(&[", 0 bad"]);
    scene.run(["verify", &file]).expect_code(0);
    assert!(fs::read(target.disk(1)).unwrap() == before, "not one byte has changed");
}

#[test]
fn a_target_that_goes_during_a_run_leaves_nothing_measured_and_is_named() {
    let scene = Scene::new("lost-lun");
    let Some((mut target, lun)) = prepared(&scene) else {
        return;
    };
    let run = scene.start_load(&["run", "plan.toml"]);
    thread::sleep(Duration::from_secs(2));
    target.kill();
    let ran = Ran::of(&run.wait_with_output().unwrap());
    ran.expect_code(2).expect_out(&[
        "Connection to the storage",
        &lun,
        "the connection",
        "look at the server and the network",
    ]);
    assert!(!ran.out.contains("FAIL"), "{}", ran.out);
    let report = String::from_utf8(scene.read("out/report.txt")).unwrap();
    assert!(report.contains("Connection to the storage") && report.contains(&lun), "{report}");
    for verb in ["check", "verify", "export", "header"] {
        let file = format!("{lun}/Plimsoll001.edb");
        scene.run([verb, &file]).expect_refusal(&[&lun, "no connection", "the target runs"]);
    }
}

#[test]
fn secrets_come_from_the_environment_and_are_never_told() {
    let scene = Scene::new("lun-secrets");
    let Some((target, _)) = target(&scene) else {
        return;
    };
    target.add_account("me", SECRET, false);
    target.add_account("array", OWN_SECRET, true);
    let lun = target.address(Some("me"), 1);
    let format =
        |secret, own| with_secrets(&mut scene.command(["format", "--force", &lun]), secret, own);
    format(Some(SECRET), None).expect_code(0);
    format(Some(SECRET), Some(OWN_SECRET)).expect_code(0);
    format(Some("lkjihgfedcba"), None).expect_refusal(&["does not take the secret of me"]);
    format(Some(SECRET), Some("21zyxwvutsrqponm")).expect_refusal(&["does not prove who it is"]);
    format(Some(SECRET), Some(SECRET)).expect_refusal(&["PLIMSOLL_CHAP_SECRET", "the same"]);
    format(None, None).expect_refusal(&["the secret of me is not known", "PLIMSOLL_CHAP_SECRET"]);
    for (secret, is_taken) in [
        ("abcdefghijk", false),
        ("abcdefghijklmnop", true),
        ("abcdefghijklmnopq", false),
        ("abc def ghi jkl", false),
    ] {
        let ran = format(Some(secret), None);
        // One that could be a secret is only wrong.
        let told =
            if is_taken { "does not take" } else { "PLIMSOLL_CHAP_SECRET: a secret of CHAP" };
        ran.expect_refusal(&[told]);
        assert!(!ran.err.contains(secret) && !ran.out.contains(secret), "{}{}", ran.out, ran.err);
    }
    let stranger = target.address(None, 1);
    with_secrets(&mut scene.command(["format", &stranger]), Some(SECRET), None)
        .expect_refusal(&["asks who logs in", "iscsi://USER@HOST"]);
    let told = lun.replace("me@", "me:secret-of-mine@");
    let ran = with_secrets(&mut scene.command(["format", &told]), None, None);
    ran.expect_refusal(&["names no LUN", "into the environment"]);
    assert!(!ran.err.contains("secret-of-mine"), "{}", ran.err);
}

#[test]
fn a_look_at_a_lun_tells_who_proves_to_be_who_and_what_it_is() {
    let scene = Scene::new("lun-look");
    let Some((target, lun)) = target(&scene) else {
        return;
    };
    // tgt says that it has a write cache, and not whether power empties it: nothing fails.
    let told = words(scene.run(["inspect", &lun]).expect_code(0));
    for part in [
        "LUN of an iSCSI target",
        "Write cache of the device",
        "on (SCSI mode page 08h)",
        "write-cache off",
        "Who proves to be who",
        "no side",
        "the portal lists the target",
        "512.0 MiB, blocks of 512 bytes",
        "force unit access",
        "the median of 33",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    target.add_account("me", SECRET, false);
    target.add_account("array", OWN_SECRET, true);
    let lun = target.address(Some("me"), 1);
    let look = |own| with_secrets(&mut scene.command(["inspect", &lun]), Some(SECRET), own);
    assert!(words(look(None).expect_code(0)).contains("the initiator, by CHAP"));
    let both = look(Some(OWN_SECRET));
    assert!(words(both.expect_code(0)).contains("initiator and target, by CHAP"));
    target.set(1, "readonly=1");
    let told = words(look(None).expect_code(1));
    assert!(told.contains("the LUN is write protected"), "{told}");
}

#[test]
fn a_portal_lists_its_targets_and_luns_and_each_lun_is_looked_at() {
    let scene = Scene::new("portal-look");
    let Some((target, lun)) = target(&scene) else {
        return;
    };
    target.add_lun(2, 64 << 20);
    let portal = format!("iscsi://{}", target.portal());
    let second = target.address(None, 2);
    for search in [portal.clone(), lun.trim_end_matches("/1").to_owned()] {
        let told = words(scene.run(["inspect", &search]).expect_code(0));
        for part in [
            &format!("target {TARGET}"),
            &format!("portals {}", target.portal()),
            "LUN 0 no disk (SCSI type 12)",
            &format!("LUN 1 512.0 MiB, {lun}"),
            &format!("LUN 2 64.0 MiB, {second}"),
            &format!("Capacity and blocks - {lun}: 512.0 MiB"),
            &format!("Capacity and blocks - {second}: 64.0 MiB"),
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    let other = format!("{portal}/iqn.2026-11.example:none");
    scene
        .run(["inspect", &other])
        .expect_refusal(&["the portal lists no iqn.2026-11.example:none"]);
    let run = scene.run(["quick", &portal, "--size", "16MiB"]);
    run.expect_refusal(&["names no LUN", "plimsoll inspect iscsi://"]);
    target.add_account("me", SECRET, false);
    let told = words(scene.run(["inspect", &portal]).expect_code(0));
    assert!(told.contains("asks who logs in") && told.contains("cannot be judged"), "{told}");
    let named = portal.replace("iscsi://", "iscsi://me@");
    let ran = with_secrets(&mut scene.command(["inspect", &named]), Some(SECRET), None);
    assert!(words(ran.expect_code(0)).contains("the initiator, by CHAP"));
}

/// tgt lists the portal that was asked alone, so that others are named.
#[test]
fn every_portal_that_is_named_is_tried_and_a_dead_one_is_told() {
    let scene = Scene::new("portals");
    let Some(target) = Tgt::start_with(&scene.folder, &["127.0.0.2"]) else {
        return;
    };
    target.add_lun(1, LUN_BYTES);
    let first = target.address(None, 1);
    let at = |host: &str| first.replace("127.0.0.1", host);
    let port = target.portal().replace("127.0.0.1", "");
    let told = words(scene.run(["inspect", &first, &at("127.0.0.2")]).expect_code(0));
    let ways = format!(" ms at 127.0.0.1{port}, ");
    let second = format!(" ms at 127.0.0.2{port}, the median of 33");
    for part in ["2, each leads to the LUN; all are reached from 127.0.0.1", &ways, &second] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(told.matches("Capacity and blocks").count(), 1, "one LUN: {told}");
    // Nothing listens at the third, whichever of them is named first.
    for order in [[at("127.0.0.2"), at("127.0.0.3")], [at("127.0.0.3"), at("127.0.0.2")]] {
        let told = words(scene.run(["inspect", &order[0], &order[1]]).expect_code(1));
        let dead = format!("look at 127.0.0.3{port}: no connection");
        for part in ["Portals of the target", "1 of 2 lead to the LUN", &dead] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    let gone = at("127.0.0.3");
    scene.run(["inspect", &gone]).expect_refusal(&["127.0.0.3", "no connection"]);
}

/// `script` gives the program a terminal, on which a secret is entered.
#[test]
fn a_secret_is_asked_for_in_a_terminal_and_not_shown() {
    let scene = Scene::new("lun-prompt");
    let Some((target, _)) = target(&scene) else {
        return;
    };
    target.add_account("me", SECRET, false);
    let lun = target.address(Some("me"), 1);
    let program = scene.command(["format", &lun]);
    let words: Vec<String> = std::iter::once(program.get_program())
        .chain(program.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let entered = format!("(sleep 2; echo {SECRET}; sleep 1; echo) | script -qec \"$0\" /dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &entered, &words.join(" ")]).current_dir(&scene.folder);
    let ran = with_secrets(&mut command, None, None);
    ran.expect_code(0).expect_out(&["Secret of me at 127.0.0.1", "503.0 MiB for files"]);
    assert!(!ran.out.contains(SECRET), "{}", ran.out);
}
