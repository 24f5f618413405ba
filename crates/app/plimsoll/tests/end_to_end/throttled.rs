//! A control group that limits a disk is named, by `inspect` and in the verdict.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scene::{HELD, Ran, Scene};
use crate::stalls::finding;

/// A control group of the first version in which the program may write 50 times a second; none
/// where this user may make none.
struct ThrottledGroup(PathBuf);

impl ThrottledGroup {
    fn new(scene: &Scene) -> Option<Self> {
        let disk = fs::metadata(&scene.folder).ok()?;
        let number = disk.dev();
        let device = format!("{}:{}", number >> 8 & 0xfff, number & 0xff);
        let name = format!("plimsoll-{}", std::process::id());
        let folder = Path::new("/sys/fs/cgroup/blkio").join(name);
        fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        let limit = group.0.join("blkio.throttle.write_iops_device");
        fs::write(limit, format!("{device} 50")).ok()?;
        Some(group)
    }

    fn run(&self, scene: &Scene, words: &str) -> Ran {
        let program = env!("CARGO_BIN_EXE_plimsoll");
        let members = self.0.join("cgroup.procs").display().to_string();
        let script = format!("echo $$ > '{members}' && exec '{program}' {words} -q");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&scene.folder);
        Ran::of(&shell.output().unwrap())
    }
}

impl Drop for ThrottledGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn limits_of_a_control_group_are_named() {
    let scene = Scene::prepared("throttled");
    let Some(group) = ThrottledGroup::new(&scene) else {
        eprintln!("skipped: no control group of the first version can be made here");
        return;
    };
    let sentence = "allows 50 writes a second on ";
    let shown = group.run(&scene, "inspect .");
    assert!(shown.out.contains(sentence), "{} {}", shown.out, shown.err);
    let judged: serde_json::Value =
        serde_json::from_str(&group.run(&scene, "inspect . --json").out).unwrap();
    let criterion =
        judged["findings"].as_array().unwrap().iter().find(|of| of["check"] == "limits");
    let criterion = criterion.unwrap_or_else(|| panic!("{judged}"));
    assert_eq!(criterion["outcome"], "warning", "{criterion}");
    assert!(criterion.to_string().contains(sentence), "{criterion}");
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let plan = plan.replace(HELD, "[workload]\ntarget_iops = 100000\n");
    scene.write("plan.toml", plan.as_bytes());
    group.run(&scene, "run plan.toml -o run --duration 3s").expect_code(2);
    let report: serde_json::Value = serde_json::from_slice(&scene.read("run/report.json")).unwrap();
    let warned = finding(&report, "io-limits");
    assert_eq!(warned["outcome"], "warning", "{report}");
    assert!(warned.to_string().contains(sentence), "{warned}");
}
