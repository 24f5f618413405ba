//! Documents, copies and orders that are refused in a sentence; nothing is destroyed.

use std::fs;

use super::{Pair, guest};
use crate::scene::Scene;

#[test]
fn a_copy_that_was_lost_is_not_replaced_by_an_empty_one() {
    let Some(mut pair) = Pair::new("mirror-lost", false) else { return };
    pair.start(0);
    pair.start(1);
    let owner = pair.wait_for_both();
    let progress = std::sync::Arc::<guest::Progress>::default();
    guest::burst(&pair.address(owner), &progress, 1);
    pair.kill(0);
    pair.kill(1);
    let kept = pair.scene.read("left.flash");
    fs::remove_file(pair.scene.path("left.flash")).unwrap();
    let start = |name: &str| pair.scene.run(["cache", "serve", "--mirror", name]);
    start("left.toml").expect_refusal(&["its file is missing", "start the other host"]);
    assert!(!pair.scene.path("left.flash").exists());
    // Damage in the middle is not taken for a torn end.
    let mut damaged = kept.clone();
    let written = kept.iter().rposition(|byte| *byte != 0).unwrap();
    let at = (written / 2).next_multiple_of(4_096);
    damaged[at..at + 4_096].fill(0xa5);
    pair.scene.write("left.flash", &damaged);
    let refused = start("left.toml");
    refused.expect_code(1).expect_err(&["damaged at byte", "cannot be trusted"]);
    assert!(pair.scene.read("left.flash") == damaged);
    pair.scene.write("left.flash", b"something else");
    start("left.toml").expect_refusal(&["is no copy of this volume"]);
    // Nor is a foreign file emptied to hold blocks.
    fs::remove_file(pair.scene.path("right.flash.blocks")).unwrap();
    pair.scene.write("right.flash.blocks", b"something else");
    start("right.toml").expect_refusal(&["holds no blocks of this volume"]);
    assert!(pair.scene.read("right.flash.blocks") == b"something else");
    // The registry that forgot the volume must not start it anew.
    pair.kill_nats();
    fs::remove_dir_all(pair.scene.path("nats")).unwrap();
    pair.start_nats();
    let start = |name: &str| pair.scene.run(["cache", "serve", "--mirror", name]);
    start("right.toml").expect_refusal(&["does not know the volume"]);
}

#[test]
fn documents_and_orders_that_cannot_be_carried_out_say_why() {
    let scene = Scene::new("mirror-documents");
    let example = scene.run(["cache", "serve", "--example-mirror"]);
    example.expect_code(0);
    scene.write("mirror.toml", example.out.as_bytes());
    let words = ["cache", "serve", "--mirror", "mirror.toml"];
    let changed = example.out.replace("nats://10.0.0.9:4222", "nats://127.0.0.1:9");
    scene.write("mirror.toml", changed.replace("/flash/", "").as_bytes());
    scene.run(words).expect_refusal(&["cannot reach the NATS server at nats://127.0.0.1:9"]);
    scene.write("mirror.toml", b"volume = \"mail\"\nhosts = [\"left\"]\n");
    scene.run(words).expect_refusal(&["hosts", "flash", "size"]);
    let Some(mut pair) = Pair::new("mirror-orders", false) else { return };
    let server = pair.server();
    let order = |pair: &Pair, volume: &str, host: &str| {
        pair.scene.run(["cache", "hand-over", volume, host, "--server", &server])
    };
    order(&pair, "mail", "right").expect_refusal(&["knows no such volume"]);
    pair.start(0);
    pair.wait("a host to serve", |pair| pair.is_owner(0));
    order(&pair, "mail", "middle").expect_refusal(&["its hosts are left and right"]);
    order(&pair, "mail", "left").expect_code(0).expect_out(&["already with left"]);
    // Another size is another volume.
    let document = String::from_utf8(pair.scene.read("right.toml")).unwrap();
    pair.scene.write("right.toml", document.replace("67108864B", "32MiB").as_bytes());
    let other = pair.scene.run(["cache", "serve", "--mirror", "right.toml"]);
    other.expect_refusal(&["the NATS server has mail of left and right, 67108864 bytes"]);
    pair.kill(0);
    order(&pair, "mail", "right").expect_refusal(&["left has the volume", "does not answer"]);
}
