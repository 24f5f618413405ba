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
    scene
        .run(["profile", "MSGTRK.LOG", "--utc-offset", "99"])
        .expect_wrong_usage(&["99", "-12..=14"]);
}

#[test]
fn mailboxes_of_exchange_are_left_out_by_name_and_copies_count_once() {
    let scene = Scene::new("profile-system");
    let log = "#Software: Microsoft Exchange Server\r\n#Version: 14.0.0.0\r\n\
        #Fields: date-time,server-hostname,source,event-id,internal-message-id,message-id,\
        recipient-address,total-bytes,sender-address\r\n\
        2026-11-20T09:15:00.100Z,E1,STOREDRIVER,RECEIVE,1,<1@x>,b@x;c@x,4096,a@x\r\n\
        2026-11-20T09:15:01.100Z,E1,STOREDRIVER,DELIVER,1,<1@x>,b@x;c@x,4096,a@x\r\n\
        2026-11-20T09:16:01.100Z,E1,STOREDRIVER,DELIVER,2,<2@x>,Migration.8f3e7716@x,4096,a@x\r\n";
    scene.write("a.log", log.as_bytes());
    scene.write("copy.log", log.as_bytes());
    let once = scene.run(["profile", "a.log"]);
    let wanted = ["mailboxes = 3", "messages_per_day = 1.0", "1 left out (a migration mailbox)"];
    once.expect_code(0).expect_out(&wanted).expect_out(&["migration.8f3e7716@x"]);
    assert!(once.err.contains("log of Exchange Server 2010,"), "{}", once.err);
    let twice = scene.run(["profile", "a.log", "copy.log"]);
    twice.expect_code(0).expect_out(&wanted).expect_out(&["3 left out (counted already)"]);
}

#[test]
fn statistics_and_exported_tracking_are_read() {
    let scene = Scene::new("profile-stats");
    let stats = "\"Date\",\"User\",\"Domain\",\"Sent Total\",\"Sent MB Total\",\"Received Total\",\
        \"Received MB Total\",\"Sent Unique Total\"\n\
        \"11/19/2026\",\"kim\",\"x.test\",\"20\",\"2.00\",\"50\",\"5.00\",\"15\"\n";
    scene.write("stats.csv", stats.as_bytes());
    let ran = scene.run(["profile", "stats.csv"]);
    ran.expect_code(0).expect_out(&["mailboxes = 1", "messages_per_day = 70.0", "they are 65.0"]);
    let export = "\"Timestamp\",\"ServerHostname\",\"Source\",\"EventId\",\"InternalMessageId\",\
        \"MessageId\",\"Recipients\",\"TotalBytes\",\"RecipientCount\",\"Sender\"\n\
        \"11/19/2026 1:03:02 PM\",\"E1\",\"STOREDRIVER\",\"RECEIVE\",\"8\",\"<8@x>\",\
        \"System.String[]\",\"10240\",\"1\",\"kim@x.test\"\n";
    scene.write("export.csv", export.as_bytes());
    let ran = scene.run(["profile", "export.csv"]);
    ran.expect_code(0).expect_out(&["mailboxes = 1", "no addresses (System.String[])"]);
}
