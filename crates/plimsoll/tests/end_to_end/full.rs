//! The log's volume fills up during a run: on a real file system of its own, where this user may
//! mount one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scene::{Scene, small_plan};

/// A small file system in a file, unmounted at the end.
struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn succeeds(program: &str, words: &[&str]) -> bool {
    let output = Command::new(program).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

impl Mount {
    /// None where this machine or this user cannot.
    fn of_mebibytes(scene: &Scene, count: u64) -> Option<Self> {
        let (image, folder) = (scene.path("volume.img"), scene.path("volume"));
        fs::create_dir(&folder).unwrap();
        fs::File::create(&image)
            .unwrap()
            .set_len(count << 20)
            .unwrap();
        let (image, target) = (image.display().to_string(), folder.display().to_string());
        let made = succeeds("mkfs.ext4", &["-q", "-F", "-m", "0", &image])
            && succeeds("mount", &["-o", "loop", &image, &target]);
        made.then(|| Self(folder))
    }
}

fn fill_up_to(folder: &Path, left: u64) {
    let free = Command::new("stat")
        .args(["-f", "-c", "%a %S"])
        .arg(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(free.stdout).unwrap();
    let mut numbers = text
        .split_whitespace()
        .map(|word| word.parse::<u64>().unwrap());
    let free = numbers.next().unwrap() * numbers.next().unwrap();
    let bytes = vec![1; usize::try_from(free - left).unwrap()];
    fs::write(folder.join("filler"), bytes).unwrap();
}

#[test]
fn a_log_volume_that_fills_up_fails_the_storage_and_loses_nothing() {
    let scene = Scene::new("full");
    let Some(volume) = Mount::of_mebibytes(&scene, 64) else {
        eprintln!("skipped: a file system of its own cannot be mounted here");
        return;
    };
    let plan = small_plan(&scene.folder).replace(
        "count = 2",
        &format!(
            "log_folders = [{:?}]\ncount = 1",
            volume.0.display().to_string()
        ),
    );
    scene.write("plan.toml", plan.replace("\"2s\"", "\"60s\"").as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    fill_up_to(&volume.0, 6 << 20);
    let ran = scene.run(["run", "plan.toml", "-o", "out"]);
    ran.expect_code(1);
    let journal = String::from_utf8(scene.read("out/record.jsonl")).unwrap();
    assert!(journal.contains("no space left on the volume"), "{journal}");
    let mount = format!("\"volume\":{:?}", volume.0.display().to_string());
    assert!(journal.contains(&mount), "{mount} is not in:\n{journal}");
    assert!(scene.path("out/report.html").exists());
    fs::remove_file(volume.0.join("filler")).unwrap();
    let logs = volume.0.display().to_string();
    scene
        .run(["recover", "Plimsoll001.edb", "--log-folder", &logs])
        .expect_code(0);
    scene.run(["verify", "Plimsoll001.edb"]).expect_code(0);
}
