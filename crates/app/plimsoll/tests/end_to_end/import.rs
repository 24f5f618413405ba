//! A configuration of Jetstress, through a plan, to prepared databases.

use crate::scene::Scene;

fn config(folder: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><configuration>\
         <JetstressVersionGenerated>15.0.995.0</JetstressVersionGenerated>\
         <TestDesignInfo><Type>Performance</Type><Duration>0H0M5S</Duration>\
         <SluggishSessions>3</SluggishSessions></TestDesignInfo>\
         <ExchangeProfile><DatabaseSizing>Profile</DatabaseSizing><MailboxCount>1</MailboxCount>\
         <MailboxQuota>16</MailboxQuota><EseInstances><EseInstance IopsBias=\"1\">\
         <DatabasePaths><Path>{folder}</Path></DatabasePaths><LogPath>{folder}</LogPath>\
         </EseInstance></EseInstances></ExchangeProfile></configuration>"
    )
}

#[test]
fn a_configuration_is_prepared_as_the_plan_that_it_becomes() {
    let scene = Scene::new("import");
    let text = config(&scene.folder.display().to_string());
    let utf16 = text.encode_utf16().flat_map(u16::to_le_bytes);
    scene.write("config.xml", &[0xff, 0xfe].into_iter().chain(utf16).collect::<Vec<_>>());
    let ran = scene.run(["import", "config.xml", "-o", "plan.toml"]);
    ran.expect_code(0).expect_out(&["Plan: plan.toml"]);
    assert!(format!("{}{}", ran.out, ran.err).contains("SluggishSessions: 3 is not taken over"));
    scene.run(["prepare", "plan.toml", "--quiet"]).expect_code(0);
    assert!(scene.path("Plimsoll001.edb").is_file());
    scene
        .run(["import", "config.xml", "-o", "plan.toml"])
        .expect_refusal(&["plan.toml: is there already"]);
}

#[test]
fn all_problems_of_a_configuration_are_named_at_once() {
    let scene = Scene::new("import-problems");
    let broken = config("/mnt")
        .replace("<Type>Performance", "<Type>qwertz")
        .replace("<Duration>0H0M5S", "<MultiHostBreak>perhaps</MultiHostBreak><Duration>")
        .replace("<MailboxCount>1", "<MailboxCount>");
    scene.write("config.xml", broken.as_bytes());
    scene.run(["import", "config.xml", "-o", "plan.toml"]).expect_refusal(&[
        "Type holds `qwertz`",
        "MultiHostBreak holds `perhaps`",
        "Duration is empty",
        "MailboxCount is empty",
    ]);
    assert!(!scene.path("plan.toml").exists());
}

#[test]
fn what_is_no_configuration_is_refused() {
    let scene = Scene::new("import-refused");
    scene.write("other.xml", b"<project/>");
    scene.run(["import", "other.xml"]).expect_refusal(&["other.xml: begins with <project>"]);
    scene.write("other.xml", b"\x00\xff\xc0");
    scene.run(["import", "other.xml"]).expect_refusal(&["neither UTF-8 nor UTF-16"]);
}
