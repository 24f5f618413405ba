//! `doctor` and `logs`: what a machine lacks, and what of a run may be sent to others.

use serde_json::Value;
use std::process::Command;

use crate::scene::Scene;

#[test]
fn a_machine_without_programs_lacks_them_by_their_packages() {
    let scene = Scene::new("doctor");
    let mut command = scene.command(["doctor", "iscsi"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // At its usual place it is found without a path.
    if !std::path::Path::new("/usr/sbin/tgtd").exists() {
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("MISSING  tgtd") && said.contains("apt install tgt"), "{said}");
    }
    scene.run(["doctor"]).expect_code(0).expect_out(&["plimsoll 0.1.0", "io_uring"]);
    scene.run(["doctor", "list"]).expect_code(0).expect_out(&["needs nothing beside"]);
    scene.run(["doctor", "lisst"]).expect_code(64).expect_err(&["lisst: no such command"]);
    let json: Value = serde_json::from_str(&scene.run(["doctor", "--json"]).out).unwrap();
    assert_eq!((&json["kind"], &json["schema"]), (&"doctor".into(), &1.into()), "{json}");
    assert!(json["needs"].as_array().unwrap().len() > 5);
}

#[test]
fn an_archive_of_a_run_holds_its_journal_and_no_secret() {
    let scene = Scene::prepared("logs");
    scene.run(["run", "plan.toml", "--test", "backup", "-o", "result", "-q"]);
    scene.change("result/report.txt", |text| text.extend_from_slice(b"token=0123456789abcdef\n"));
    scene.write("result/serve-token", b"0123456789abcdef");
    let packed = scene.run(["logs", "result"]);
    packed.expect_code(0).expect_out(&["result-logs.tar"]).expect_err(&["replaced by (removed): "]);
    let bytes = scene.read("result-logs.tar");
    assert!(!bytes.windows(16).any(|part| part == b"0123456789abcdef"), "a secret is in it");
    let mut tar = Command::new("tar");
    let listing = tar.args(["-tf", "result-logs.tar"]).current_dir(&scene.folder).output().unwrap();
    let names = String::from_utf8(listing.stdout).unwrap();
    for name in ["record.jsonl", "report.json", "report.txt", "version.txt", "doctor.json"] {
        assert!(names.contains(&format!("result/{name}\n")), "{name}: {names}");
    }
    scene.run(["logs", "result"]).expect_refusal(&["result-logs.tar"]);
    scene.run(["logs", "nothing"]).expect_refusal(&["nothing"]);
}
