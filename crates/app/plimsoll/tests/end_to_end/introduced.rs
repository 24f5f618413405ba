//! What a person reads who types little or types it wrong.

use crate::scene::Scene;

#[test]
fn help_groups_the_commands_with_those_of_a_first_test_at_its_head() {
    let scene = Scene::new("introduced-help");
    let ran = scene.run(["--help"]);
    ran.expect_code(0);
    let mut rest = ran.out.as_str();
    for heading in
        ["Begin with:", "Measure:", "Predict:", "Design:", "Publish:", "Databases:", "Around it:"]
    {
        let found = rest.split_once(heading);
        rest = found.unwrap_or_else(|| panic!("{heading} is not in its place:\n{}", ran.out)).1;
    }
    assert!(rest.contains("Options:") && rest.contains("Examples:"), "{rest}");
    assert!(!ran.out.contains('\x1b'), "no colour into a pipe");
    let coloured = scene.run(["--color", "always", "--help"]);
    coloured.expect_code(0).expect_out(&["\x1b["]);
    let mut command = scene.command(["--color=auto", "--help"]);
    let plain = command.env("NO_COLOR", "1").output().unwrap();
    assert!(!plain.stdout.contains(&b'\x1b'));
    scene.run(["--color", "sometimes", "list"]).expect_code(64).expect_err(&["sometimes"]);
}

#[test]
fn without_arguments_five_commands_and_where_to_go() {
    let scene = Scene::new("introduced-nothing");
    let ran = scene.run::<&str>([]);
    ran.expect_code(64).expect_out(&["Five commands", "plimsoll quick /mnt/mail"]);
    ran.expect_out(&["plimsoll help run", "plimsoll doctor"]);
    assert!(ran.out.lines().count() < 30, "{}", ran.out);
}

#[test]
fn topics_are_explained_and_commands_still_have_their_help() {
    let scene = Scene::new("introduced-topics");
    for (topic, part) in [
        ("plan", "databases.folders"),
        ("verdict", "CANNOT JUDGE"),
        ("exit-status", "64   wrong usage"),
        ("formats", "report.html"),
    ] {
        scene.run(["help", topic]).expect_code(0).expect_out(&[part]);
    }
    scene.run(["help", "run"]).expect_code(0).expect_out(&["--resume"]);
    for words in [["help", "--help"], ["help", "-h"], ["help", "help"]] {
        scene.run(words).expect_code(0).expect_out(&["help TOPIC", "exit-status"]);
    }
}

#[test]
fn a_command_that_is_nearly_right_is_named() {
    let scene = Scene::new("introduced-typo");
    scene.run(["prepair", "plan.toml"]).expect_code(64).expect_err(&["'prepare'"]);
    scene
        .run(["run", "plan.toml", "--durration", "2h"])
        .expect_code(64)
        .expect_err(&["--duration"]);
}

#[test]
fn version_names_release_target_and_features() {
    let scene = Scene::new("introduced-version");
    let long = scene.run(["--version"]);
    long.expect_code(0).expect_out(&["plimsoll 0.1.0 (", "Target: ", "Features: "]);
    let short = scene.run(["-V"]);
    assert_eq!(short.out.lines().count(), 1, "{}", short.out);
    assert!(long.out.starts_with(short.out.trim_end()));
}
