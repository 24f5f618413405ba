//! `profile`: from the administrators' files to the tiers of a deployment.

use crate::scene::Scene;

const LOG: &str = "#Software: Microsoft Exchange Server\r\n\
    #Version: 15.01.2375.007\r\n\
    #Fields: date-time,source,event-id,recipient-address,total-bytes,sender-address\r\n\
    2026-11-20T09:15:00.100Z,STOREDRIVER,RECEIVE,b@x;c@x,10240,a@x\r\n\
    2026-11-20T09:15:01.100Z,STOREDRIVER,DELIVER,b@x;c@x,20480,a@x\r\n\
    2026-11-20T10:15:01.100Z,STOREDRIVER,DELIVER,b@x;c@x,lots,a@x\r\n";

const MAILBOXES: &str = "DisplayName;ItemCount;TotalItemSize\n\
    A;10;1 GB (1.073.741.824 Bytes)\nB;10;3 GB (3.221.225.472 Bytes)\n";

#[test]
fn logs_and_mailboxes_make_a_deployment() {
    let scene = Scene::new("profile");
    scene.write("MSGTRK.LOG", LOG.as_bytes());
    scene.write("mailboxes.csv", MAILBOXES.as_bytes());
    let files = ["profile", "MSGTRK.LOG", "mailboxes.csv"];
    let ran = scene.run(files);
    ran.expect_code(0).expect_out(&[
        "mailboxes = 2",
        "messages_per_day = 1.5",
        "average_message = \"17066B\"",
        "initial_size = \"2GiB\"",
        "size_limit = \"3GiB\"",
        "hourly_percent = [",
    ]);
    assert!(ran.err.contains("line 6: total-bytes is \"lots\""), "{}", ran.err);
    let json = scene.run(files.into_iter().chain(["--json"]));
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["message_profile"]["AvgTotalMsgs"], 2);
    assert_eq!(json["files"][0]["bad_rows"], 1);
    let release = json["files"][0]["release"].as_str().unwrap();
    assert!(release.starts_with("Exchange Server 2016 CU22"), "{release}");
    assert_eq!(json["peak_hour"]["hour"], 9);
}

#[test]
fn what_is_known_better_is_given() {
    let scene = Scene::new("profile-given");
    scene.write("MSGTRK.LOG", LOG.as_bytes());
    let words =
        "profile MSGTRK.LOG --mailboxes 30 --size-limit 5GiB --average-message 60KiB -o p.toml";
    scene.run(words.split(' ')).expect_code(0);
    let text = String::from_utf8(scene.read("p.toml")).unwrap();
    for line in ["mailboxes = 30", "size_limit = \"5GiB\"", "average_message = \"60KiB\""] {
        assert!(text.contains(line), "{line} in {text}");
    }
    scene.run(words.split(' ')).expect_refusal(&["p.toml", "nothing is written over"]);
    // The profile is a deployment but for its servers.
    scene.run(["plan", "p.toml"]).expect_refusal(&["p.toml", "servers_per_site"]);
    let whole = format!("{text}\n[availability]\nservers_per_site = 2\ncopies = 2\n");
    scene.write("whole.toml", whole.as_bytes());
    scene.run(["plan", "whole.toml"]).expect_code(0);
}

#[test]
fn an_unknown_file_is_refused_with_what_is_known() {
    let scene = Scene::new("profile-unknown");
    scene.write("x.csv", b"Name,Colour\nA,red\n");
    scene.run(["profile", "x.csv"]).expect_refusal(&[
        "x.csv",
        "Name, Colour",
        "TotalItemSize, ItemCount",
    ]);
    scene.run(["profile", "nowhere.csv"]).expect_refusal(&["nowhere.csv", "check the path"]);
    scene.write("MSGTRK.LOG", LOG.as_bytes());
    scene.run(["profile", "MSGTRK.LOG", "--utc-offset", "99"]).expect_code(64);
}
