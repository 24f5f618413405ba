//! A volume without room, before a run and during it: on a separate real file system, if this user
//! may mount one.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::mount::{BTRFS, EXT4, Mount};
use crate::scene::{HELD, Ran, Scene, small_plan};

/// Writes a mebibyte now and then until the volume is full or the program has ended.
fn fill_slowly(folder: &Path) -> std::thread::JoinHandle<()> {
    let path = folder.join("slow filler");
    std::thread::spawn(move || {
        let mut file = fs::File::create(path).unwrap();
        for _ in 0..200 {
            if file.write_all(&vec![1; 1 << 20]).and_then(|()| file.sync_data()).is_err() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    })
}

fn fill_up_to(folder: &Path, left: u64) {
    let free = Command::new("stat").args(["-f", "-c", "%a %S"]).arg(folder).output().unwrap();
    let text = String::from_utf8(free.stdout).unwrap();
    let mut numbers = text.split_whitespace().map(|word| word.parse::<u64>().unwrap());
    let free = numbers.next().unwrap() * numbers.next().unwrap();
    let bytes = vec![1; usize::try_from(free - left).unwrap()];
    fs::write(folder.join("filler"), bytes).unwrap();
}

/// One database and its log, all on the volume.
fn plan_on(volume: &Mount, duration: &str) -> String {
    let plan = small_plan(&volume.0).replace("count = 2", "count = 1");
    plan.replace("\"2s\"", &format!("{duration:?}"))
}

/// The database lost nothing, and a run on it goes well once there is room again.
fn is_as_good_as_before(scene: &Scene, volume: &Mount) {
    let file = volume.0.join("Plimsoll001.edb").display().to_string();
    scene.run(["recover", &file]).expect_code(0);
    scene.run(["verify", &file]).expect_code(0);
    scene.write("plan.toml", plan_on(volume, "2s").as_bytes());
    // Not held, a fast disk would fill the small volume by itself.
    let again = scene.run(["run", "plan.toml", "-o", "again", "--target-iops", "2000"]);
    assert!(again.out.contains("Measured time"), "{}", again.err);
    again.expect_out(&["Measured time ", "at least 30 s", "0           of"]);
}

#[test]
fn a_run_without_room_for_its_log_is_refused_with_the_numbers() {
    let scene = Scene::new("no-room");
    let Some(volume) = Mount::new(&scene, &EXT4, 64) else {
        return;
    };
    let logs = format!("log_folders = [{:?}]\ncount = 1", volume.0.display().to_string());
    let plan = small_plan(&scene.folder).replace("count = 2", &logs);
    scene.write("plan.toml", plan.as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    fill_up_to(&volume.0, 6 << 20);
    let ran = scene.run(["run", "plan.toml", "-o", "out"]);
    ran.expect_refusal(&[&volume.0.display().to_string(), "will write at least 4", "free"]);
    assert!(!scene.path("out").exists());
}

#[test]
fn a_volume_that_fills_up_slowly_ends_the_run_before_it_is_full() {
    let scene = Scene::new("filling");
    let Some(volume) = Mount::new(&scene, &EXT4, 160) else {
        return;
    };
    scene.write("plan.toml", plan_on(&volume, "60s").as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    let run = scene.start(["run", "plan.toml", "-o", "out", "--target-iops", "2000"]);
    let filler = fill_slowly(&volume.0);
    let ran = Ran::of(&run.wait_with_output().unwrap());
    filler.join().unwrap();
    ran.expect_code(2);
    ran.expect_out(&["Inconclusive", "was about to be full", "every second"]);
    ran.expect_out(&["Next: ", "Free space on the volume"]);
    let journal = String::from_utf8(scene.read("out/record.jsonl")).unwrap();
    assert!(!journal.contains("\"event\":\"issue\""), "{journal}");
    fs::remove_file(volume.0.join("slow filler")).unwrap();
    is_as_good_as_before(&scene, &volume);
}

#[test]
fn a_volume_that_is_full_at_once_is_no_damage() {
    for (name, make) in [("full-ext4", &EXT4[..]), ("full-btrfs", &BTRFS[..])] {
        let scene = Scene::new(name);
        let Some(volume) = Mount::new(&scene, make, 256) else {
            continue;
        };
        scene.write("plan.toml", plan_on(&volume, "60s").as_bytes());
        scene.run(["prepare", "plan.toml"]).expect_code(0);
        fill_up_to(&volume.0, 64 << 20);
        let run = scene.start(["run", "plan.toml", "-o", "out"]);
        std::thread::sleep(std::time::Duration::from_secs(2));
        // More than there is.
        let _ = fs::write(volume.0.join("rest"), vec![1; 80 << 20]);
        let ran = Ran::of(&run.wait_with_output().unwrap());
        ran.expect_code(2);
        ran.expect_out(&["Inconclusive"]);
        assert!(!ran.out.contains("Not fit"), "{}", ran.out);
        for file in ["filler", "rest"] {
            fs::remove_file(volume.0.join(file)).unwrap();
        }
        // Btrfs gives room back when its transaction ends, which else is 30 s away.
        assert!(Command::new("sync").arg("-f").arg(&volume.0).status().unwrap().success());
        is_as_good_as_before(&scene, &volume);
    }
}

#[test]
fn a_first_look_at_a_small_volume_leaves_room_to_grow() {
    let scene = Scene::new("small-volume");
    let Some(volume) = Mount::new(&scene, &EXT4, 400) else {
        return;
    };
    let folder = volume.0.display().to_string();
    let ran = scene.run(["quick", &folder, "--duration", "4s"]);
    ran.expect_code(2);
    ran.expect_out(&["Inconclusive", "Measured time ", "at least 30 s"]);
    assert!(!ran.out.contains("Not fit"), "{}", ran.out);
    // A fast disk may have left no room for a second one, which is then refused with the numbers.
    let again = scene.run(["quick", &folder, "--duration", "4s"]);
    again.expect_code(2);
    assert!(!again.out.contains("Not fit"), "{}", again.out);
}

#[test]
fn a_first_look_without_room_is_refused_before_anything_is_filled() {
    let scene = Scene::new("full-small-volume");
    let Some(volume) = Mount::new(&scene, &EXT4, 400) else {
        return;
    };
    fill_up_to(&volume.0, 120 << 20);
    let folder = volume.0.display().to_string();
    // The files alone would fit, and the run on them would not.
    for words in [&["quick", &folder][..], &["quick", &folder, "--size", "16MiB"]] {
        let ran = scene.run(words);
        ran.expect_refusal(&["and the run on them need", "nothing was written. Free some space"]);
        assert!(!ran.err.contains("Would the disk"), "{}", ran.err);
        assert!(!volume.0.join("Plimsoll001.edb").exists());
    }
}

#[test]
fn a_report_without_room_leaves_no_part_of_itself() {
    let scene = Scene::prepared("no-room-report");
    scene.run(["run", "plan.toml", "--test", "backup", "-q", "-o", "out"]).expect_code(0);
    let Some(volume) = Mount::new(&scene, &EXT4, 64) else {
        return;
    };
    fill_up_to(&volume.0, 8_192);
    let page = volume.0.join("page.html");
    let words = ["report", "out", "--format", "html", "-o", &page.display().to_string()];
    scene.run(words).expect_refusal(&["page.html", "free some space"]);
    assert!(!page.exists(), "the first part of a page reads like a whole one");
    scene.run(words.iter().chain(&["--force"])).expect_refusal(&["free some space"]);
    let left: Vec<_> = fs::read_dir(&volume.0).unwrap().map(|one| one.unwrap().path()).collect();
    assert!(left.iter().all(|path| !path.display().to_string().contains("page")), "{left:?}");
}

#[test]
fn databases_and_load_are_the_shares_that_were_asked_for() {
    let scene = Scene::new("shares");
    let Some(volume) = Mount::new(&scene, &EXT4, 256) else { return };
    let size = "capacity_percent = 30";
    let plan = small_plan(&volume.0).replace("size = \"16MiB\"", size);
    let plan = plan.replace(HELD, "[workload]\nthroughput_percent = 50\n");
    scene.write("plan.toml", plan.as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    let of_volume = Command::new("stat").args(["-f", "-c", "%b %S"]).arg(&volume.0).output();
    let text = String::from_utf8(of_volume.unwrap().stdout).unwrap();
    let total: u64 = text.split_whitespace().map(|word| word.parse::<u64>().unwrap()).product();
    let each = total * 30 / 125 / 2;
    let made = fs::metadata(volume.0.join("Plimsoll002.edb")).unwrap().len();
    assert!((each - (1 << 20)..each + (4 << 20)).contains(&made), "{made} of {each}");
    scene.run(["run", "plan.toml", "--duration", "5s", "-o", "run"]);
    let report: serde_json::Value = serde_json::from_slice(&scene.read("run/report.json")).unwrap();
    let settings = &report["run"]["settings"];
    assert_eq!(
        (&settings["capacity_percent"], &settings["throughput_percent"]),
        (&30.0.into(), &50.0.into())
    );
    let target = report["run"]["tuned"]["target_iops"].as_f64().expect("the load was held");
    let measured = report["achieved_transactional_iops"].as_f64().unwrap();
    assert!((0.5..1.2).contains(&(measured / target)), "{measured} of {target}");
    // The same plan where there is no such folder.
    let nowhere = plan.replace(&volume.0.display().to_string(), "/no/such/folder");
    scene.write("nowhere.toml", nowhere.as_bytes());
    let refused = scene.run(["prepare", "nowhere.toml"]);
    refused.expect_refusal(&[
        "capacity_percent",
        "/no/such/folder",
        "make the folder, or give `size`",
    ]);
}
