//! Volumes behind the cache as targets of iSCSI: libiscsi, qemu-img and our own initiator, with and
//! without CHAP; what the server refuses.

use std::fs;
use std::process::Command;

use super::{Served, peer, same, scene};
use crate::scene::{Ran, Scene};

const SECRET: &str = "abcdefghijkl";
const TARGET_SECRET: &str = "mnopqrstuvwxyz12";

const SERVE: [&str; 11] = [
    "cache",
    "serve",
    "flash.img",
    "--volume",
    "mail=disk.img",
    "--listen",
    "unix:nbd.sock",
    "--iscsi",
    "127.0.0.1:0",
    "--iscsi-name",
    "iqn.2026-11.example.test:cache",
];

pub(super) const TARGET: &str = "iqn.2026-11.example.test:cache:mail";

/// Serves with further words; the server, and the address of the portal.
pub(super) fn serve<'a>(scene: &'a Scene, more: &[&'a str]) -> (Served<'a>, String) {
    let served = Served::with(scene, SERVE.iter().chain(more).copied().collect());
    let said = served.messages();
    let portal = said.split("iscsi://").nth(1).and_then(|rest| rest.split('/').next());
    (served, format!("iscsi://{}", portal.unwrap_or_else(|| panic!("{said}"))))
}

fn with_secrets(scene: &Scene, words: &[&str], secrets: [Option<&str>; 2]) -> Ran {
    let mut command: Command = scene.command(words);
    for (name, value) in ["PLIMSOLL_CHAP_SECRET", "PLIMSOLL_CHAP_TARGET_SECRET"].iter().zip(secrets)
    {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ran::of(&command.output().unwrap())
}

/// QEMU without its package of network protocols.
fn lacks_iscsi(ran: &Ran) -> bool {
    let lacks = ["load module iscsi", "Unknown protocol 'iscsi'"];
    let is_lacking = lacks.iter().any(|words| ran.err.contains(words));
    if is_lacking {
        eprintln!("SKIPPED: qemu-img cannot speak iSCSI here (apt-get install qemu-block-extra)");
    }
    is_lacking
}

fn private_secrets(scene: &Scene, text: &str, mode: &str) {
    scene.write("chap", text.as_bytes());
    let changed = Command::new("chmod").args([mode, "chap"]).current_dir(&scene.folder).status();
    assert!(changed.unwrap().success());
}

#[test]
fn every_byte_comes_back_to_initiators_of_others() {
    let scene = scene("cache-iscsi");
    let (served, portal) = serve(&scene, &[]);
    let lun = format!("{portal}/{TARGET}/0");
    if let Some(listed) = peer(&scene, &["iscsi-ls", "--show-luns", &portal]) {
        listed.expect_code(0).expect_out(&[TARGET, "Lun:0"]);
        peer(&scene, &["iscsi-inq", &lun]).unwrap().expect_out(&["PLIMSOLL"]);
        let capacity = peer(&scene, &["iscsi-readcapacity16", &lun]).unwrap();
        capacity.expect_code(0).expect_out(&["Total size:67108864", "IN BYTES:512"]);
    }
    if let Some(compared) =
        peer(&scene, &["qemu-img", "compare", "-f", "raw", "-F", "raw", &lun, "disk.img"])
        && !lacks_iscsi(&compared)
    {
        compared.expect_code(0).expect_out(&["Images are identical"]);
        let mut changed = scene.read("disk.img");
        changed[..5 << 20].rotate_left(12_345);
        scene.write("changed.img", &changed);
        let convert = ["qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "changed.img", &lun];
        peer(&scene, &convert).unwrap().expect_code(0);
        assert!(same(&scene.path("changed.img"), &scene.path("disk.img")), "written through");
    }
    let metrics = scene.run(["cache", "status", "flash.img", "--metrics"]);
    metrics.expect_out(&["plimsoll_cache_initiators 0"]);
    assert!(served.status()["classes"].is_array());
    assert_eq!(served.stop(), 0);
}

#[test]
fn our_initiator_looks_at_a_volume_of_our_target_and_formats_it() {
    let scene = scene("cache-iscsi-own");
    let (served, portal) = serve(&scene, &[]);
    let lun = format!("{portal}/{TARGET}/0");
    scene.run(["inspect", &lun, "--json"]).expect_out(&["PLIMSOLL", "67108864"]);
    scene.run(["format", &lun, "--force"]).expect_code(0).expect_out(&["MiB for files"]);
    assert!(served.status()["initiators"].is_number());
    assert_eq!(served.stop(), 0);
    assert!(fs::read(scene.path("disk.img")).unwrap() != *super::noise(), "it reached the volume");
}

#[test]
fn chap_lets_in_who_knows_the_secret_and_proves_the_target() {
    let scene = scene("cache-iscsi-chap");
    private_secrets(&scene, &format!("{SECRET}\n{TARGET_SECRET}\n"), "600");
    let (served, portal) = serve(&scene, &["--iscsi-user", "me", "--iscsi-secrets", "chap"]);
    let lun = format!("{portal}/{TARGET}/0").replace("iscsi://", "iscsi://me@");
    let look = |secrets| with_secrets(&scene, &["inspect", &lun], secrets);
    for (secrets, code, said) in [
        ([Some(SECRET), None], Some(0), "one-way"),
        ([Some(SECRET), Some(TARGET_SECRET)], Some(0), "both"),
        ([Some("wrong-wrong-1"), None], Some(2), "does not take"),
        ([Some(SECRET), Some("wrong-wrong-1")], Some(2), "PLIMSOLL_CHAP_TARGET_SECRET"),
    ] {
        let ran = look(secrets);
        let text = format!("{} {}", ran.out, ran.err);
        assert_eq!(ran.code == Some(2), code == Some(2), "{said}: {text}");
        assert!(!text.contains(SECRET) && !served.messages().contains(SECRET), "{text}");
    }
    let nameless = scene.run(["inspect", &lun.replace("me@", "")]);
    nameless.expect_refusal(&["asks who logs in"]);
    assert_eq!(served.stop(), 0);
}

#[test]
fn a_target_that_is_too_open_or_has_no_secret_is_not_started() {
    let scene = scene("cache-iscsi-refused");
    let refused = |more: &[&str]| {
        let mut command = scene.command(SERVE[..7].iter().chain(more));
        command.env_remove("PLIMSOLL_ISCSI_SECRET");
        Ran::of(&command.output().unwrap())
    };
    refused(&["--iscsi", "0.0.0.0:0"]).expect_refusal(&["other machines", "--iscsi-user"]);
    refused(&["--iscsi", "nowhere"]).expect_refusal(&["no address of initiators"]);
    let user = ["--iscsi", "0.0.0.0:0", "--iscsi-user", "me"];
    refused(&user).expect_refusal(&["secret of me", "PLIMSOLL_ISCSI_SECRET", "--iscsi-secrets"]);
    let filed = [&user[..], &["--iscsi-secrets", "chap"]].concat();
    private_secrets(&scene, "abcdefghijkl", "644");
    refused(&filed).expect_refusal(&["chap", "chmod 600"]);
    private_secrets(&scene, "short", "600");
    refused(&filed).expect_refusal(&["chap", "12 to 16 characters"]);
    private_secrets(&scene, "abcdefghijkl\nabcdefghijkl", "600");
    refused(&filed).expect_refusal(&["chap", "the same"]);
    private_secrets(&scene, "abcdefghijkl", "600");
    refused(&filed).expect_refusal(&["other machines", "--iscsi-network"]);
    let named = ["--iscsi", "127.0.0.1:0", "--iscsi-name", "Mail"];
    refused(&named).expect_refusal(&["begins with iqn."]);
    refused(&["--iscsi-user", "me"]).expect_code(64);
}
