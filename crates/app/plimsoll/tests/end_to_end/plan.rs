//! `plan`: from a deployment to a plan that `prepare` and `run` accept unchanged.

use std::process::Command;

use crate::scene::Scene;

const DEPLOYMENT: &str = "name = \"small office\"\n\
    [[tier]]\nmailboxes = 200\nmessages_per_day = 100\nsize_limit = \"1GiB\"\n\
    [availability]\nservers_per_site = 2\ncopies = 2\n\
    [data]\nlargest_database = \"200GiB\"\n";

/// The sized deployment is what gets tested: scaled down here, but by the same files.
#[test]
fn a_sized_deployment_is_prepared_and_run() {
    let scene = Scene::new("plan-run");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    std::fs::create_dir(scene.path("disks")).unwrap();
    let words = "plan deployment.toml -o out --root disks --scale 0.001 --server EX02";
    scene.run(words.split(' ')).expect_code(0).expect_out(&["plan.toml", "provision.json"]);
    let text = String::from_utf8(scene.read("out/plan.toml")).unwrap();
    assert!(text.contains("no proof") && text.contains("on EX02"), "{text}");
    scene.run(["prepare", "out/plan.toml"]).expect_code(0);
    // Two seconds prove nothing, and it says so; but they were measured.
    let words = "run out/plan.toml --duration 2s --threads 1 -o result";
    scene.run(words.split(' ')).expect_code(2).expect_out(&[
        "CANNOT JUDGE",
        "Measured time",
        "Damaged pages   0 ",
    ]);
    assert!(scene.path("result/report.html").exists());
}

/// The deployment of the documentation and its three commands, the last two on a rehearsal.
#[test]
fn the_documentation_goes_from_mailboxes_to_a_plan() {
    let scene = Scene::new("plan-readme");
    let page = include_str!("../../../../../docs/how-to/mailboxes.md");
    let (_, block) = page.split_once("```toml\n").unwrap();
    let (deployment, rest) = block.split_once("```").unwrap();
    assert!(deployment.contains("mailboxes = 5000"));
    for command in ["plan deployment.toml -o mail", "prepare mail/plan.toml", "run mail/plan.toml"]
    {
        assert!(rest.contains(command), "{command}");
    }
    scene.write("deployment.toml", deployment.as_bytes());
    scene.run(["plan", "deployment.toml", "-o", "mail"]).expect_code(0);
    scene.run(["prepare", "mail/plan.toml"]).expect_refusal(&["/mnt/mail", "no such folder"]);
}

#[test]
fn nothing_is_written_over() {
    let scene = Scene::new("plan-twice");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    let words = "plan deployment.toml -o out --export all";
    scene.run(words.split(' ')).expect_code(0).expect_out(&[
        "Servers.csv",
        "MailboxDatabaseCopies.csv",
        "EX01-diskpart.txt",
        "DAG01.ps1",
        "EX02-linux.sh",
        "FLEET.toml",
    ]);
    // It is read whole, with the plan of every server, before a server is looked for.
    scene.run(["fleet", "run", "out/FLEET.toml"]).expect_refusal(&["plimsoll fleet up"]);
    let before = scene.read("out/plan.toml");
    scene.run(words.split(' ')).expect_refusal(&["plan.toml", "nothing is written over"]);
    assert_eq!(scene.read("out/plan.toml"), before);
    let shell = Command::new("bash").arg("-n").arg(scene.path("out/EX01-linux.sh")).status();
    assert!(shell.unwrap().success(), "bash reads the script");
}

#[test]
fn a_provision_is_read_by_people_and_programs() {
    let scene = Scene::new("plan-views");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    scene.run(["plan", "deployment.toml"]).expect_code(0).expect_out(&[
        "# small office",
        "| one server failed | 2 | kept | 4 to 4 |",
        "### EX02, site 1",
        "ExVol01",
    ]);
    let json = scene.run(["plan", "deployment.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["groups"][0]["servers"][1]["name"], "EX02");
    assert_eq!(json["failures"][1]["failure"], "one server failed");
    assert_eq!(json["failures"][1]["active"][1], 4);
    assert_eq!(json["groups"][0]["databases"][0]["copies"].as_array().unwrap().len(), 2);
}

/// The published wizard case: seven disks, volumes of 1.186 TB and 75 GB, a test of 1,943.6 GiB.
#[test]
fn the_array_of_the_published_report() {
    let scene = Scene::new("plan-array");
    let text = "[[tier]]\nmailboxes = 1000\nmessages_per_day = 200\nsize_limit = \"1.5GiB\"\n\
        iops = 0.2\n[availability]\nservers_per_site = 2\ncopies = 2\n\
        [data]\ndatabases = 2\nsymmetrical = false\n\
        [disks]\ndatabase = { size = \"600GB\", type = \"15K SAS 3.5\" }\n\
        [storage]\nraid = \"RAID-5\"\nraid5_group = \"6+1\"\n";
    scene.write("vnxe.toml", text.as_bytes());
    let words = "plan vnxe.toml --array vnxe3300 -o out --export linux";
    scene.run(words.split(' ')).expect_code(0);
    let json: serde_json::Value =
        serde_json::from_slice(&scene.read("out/provision.json")).unwrap();
    assert_eq!(json["disks"][0]["pools"][0]["disks"], 7);
    let volumes = json["groups"][0]["servers"][0]["volumes"].as_array().unwrap();
    let gib: Vec<u64> =
        volumes.iter().map(|volume| volume["bytes"].as_u64().unwrap() >> 30).collect();
    assert_eq!(gib, [1214, 1214, 75, 75]);
    let shares = &json["disks"][0]["capacity"]["databases_by_volumes_percent"];
    assert!((shares.as_f64().unwrap() - 80.45).abs() < 0.1, "{shares}");
    let plan = String::from_utf8(scene.read("out/plan.toml")).unwrap();
    assert!(plan.contains("size = \"995112MiB\"") && plan.contains("log_folder"), "{plan}");
    let script = String::from_utf8(scene.read("out/EX01-linux.sh")).unwrap();
    assert!(script.contains("--level=5 --raid-devices=7"), "{script}");
    scene.write(
        "jbod.toml",
        b"[[tier]]\nmailboxes = 1000\nmessages_per_day = 100\n\
        size_limit = \"1GiB\"\n[availability]\nservers_per_site = 4\ncopies = 3\n",
    );
    scene
        .run(["plan", "jbod.toml", "--array", "vnxe3300"])
        .expect_refusal(&["single disks", "[storage]"]);
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let scene = Scene::new("plan-refused");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    scene
        .run(["plan", "deployment.toml", "--server", "EX99"])
        .expect_refusal(&["EX99", "EX01 to EX02"]);
    scene
        .run(["plan", "deployment.toml", "--scale", "0"])
        .expect_wrong_usage(&["--scale", "above 0"]);
    let odd = format!("{DEPLOYMENT}[names]\ndatabases = \"../x\"\n");
    scene.write("odd.toml", odd.as_bytes());
    scene.run(["plan", "odd.toml"]).expect_refusal(&["[names] databases", "cannot stand in paths"]);
    scene.run(["plan", "deployment.toml", "--export", "linux"]).expect_code(64);
}

/// The shell itself reads every script for Linux: single disks and groups, encrypted or not, with
/// names that are letters of the shell.
#[test]
fn the_shell_reads_every_script() {
    let scene = Scene::new("plan-shell");
    let tier = "[[tier]]\nmailboxes = 4000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n";
    let names = "[names]\ndatabases = \"D'B;$(x) &`\"\nservers = \"E X'\"\n";
    for (case, rest) in [
        ("jbod", "[availability]\nservers_per_site = 4\ncopies = 3\n"),
        (
            "raid",
            "[availability]\nservers_per_site = 2\ncopies = 1\n[storage]\nraid = \"RAID-6\"\n\
             [disks]\ndatabase = { size = \"900GB\", type = \"10K SAS 2.5\" }\n",
        ),
        (
            "luks",
            "[availability]\nservers_per_site = 4\ncopies = 3\n\
             [file_system]\nname = \"XFS\"\nencryption = \"LUKS\"\n",
        ),
    ] {
        let file = format!("{case}.toml");
        scene.write(&file, format!("{tier}{rest}{names}").as_bytes());
        let arguments = ["plan", &file, "-o", case, "--export", "linux"];
        scene.run(arguments).expect_code(0);
        let script = scene.path(format!("{case}/E X'01-linux.sh"));
        let read = Command::new("bash").arg("-n").arg(&script).output();
        let read = read.unwrap();
        let said = String::from_utf8_lossy(&read.stderr).into_owned();
        assert!(read.status.success() && said.is_empty(), "{case}: {said}");
    }
}
