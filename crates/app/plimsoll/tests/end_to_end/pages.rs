//! Every command on the pages of the site, in their order, in one scratch folder for each page.
//!
//! Blocks marked `console` are carried out, with short tests in place of long ones; a block of
//! `toml` that begins with the name of a file becomes that file. Blocks marked `sh` need what no
//! test has: devices, servers, hours.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::scene::{Ran, Scene};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs");

/// A block of code: what it is marked as, and its lines.
type Block = (String, Vec<String>);

/// The blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(mark) if !is_open => {
                blocks.push((mark.to_owned(), Vec::new()));
                is_open = true;
            }
            Some(_) => is_open = false,
            None if is_open => blocks.last_mut().unwrap().1.push(line.to_owned()),
            None => {}
        }
    }
    blocks
}

/// The command that `selftest.rs` carries out: it loads storage for 20 s, and has no shorter form.
const ELSEWHERE: &str = "plimsoll selftest .";

/// A command as a test has time for it.
fn shortened(line: &str) -> String {
    let line = line.split("  #").next().unwrap().trim();
    // Held, the load leaves processors to other tests.
    let short = " --duration 6s --target-iops 10";
    match line {
        _ if line.starts_with("plimsoll quick") => format!("{line} --size 16MiB{short}"),
        _ if line.starts_with("plimsoll run") && !line.contains("--test backup") => {
            format!("{line}{short}")
        }
        _ => line.to_owned(),
    }
}

/// Carries out a page.
fn follow(page: &str) {
    let text = fs::read_to_string(Path::new(DOCS).join(page)).unwrap();
    let scene = Scene::prepared("pages");
    let plan = scene.read("plan.toml");
    let programs = scene.path("programs");
    fs::create_dir(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_plimsoll"), programs.join("plimsoll")).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    for (mark, lines) in blocks(&text) {
        let named = lines.first().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        if mark == "toml" && Path::new(named).extension().is_some_and(|ending| ending == "toml") {
            scene.write(named, lines.join("\n").as_bytes());
        }
        let commands = lines.iter().filter_map(|line| line.strip_prefix("$ "));
        let commands = commands.filter(|line| !line.starts_with(ELSEWHERE));
        for command in commands.filter(|_| mark == "console").map(shortened) {
            let mut shell = Command::new("sh");
            shell.args(["-c", &command]).current_dir(&scene.folder).env("PATH", &path);
            let ran = Ran::of(&shell.stdin(Stdio::null()).output().unwrap());
            let said = format!("{page}: {command}\n{}\n{}", ran.out, ran.err);
            assert!(matches!(ran.code, Some(0..=2)), "{said}");
            // A test may come to any verdict, but a command that was refused has none.
            let judging = ["quick", "run", "inspect", "size", "doctor", "compare", "report"];
            let is_test =
                judging.iter().any(|verb| command.starts_with(&format!("plimsoll {verb}")));
            let has_answer = !ran.out.is_empty() || !ran.err.starts_with("plimsoll: ");
            assert!(ran.code == Some(0) || is_test && has_answer, "{said}");
            if command.ends_with("> plan.toml") {
                scene.write("plan.toml", &plan);
            }
        }
    }
}

/// Pages whose commands are run, one test per page.
macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        $(#[test] fn $name() { follow($page); })*

        #[test]
        fn every_page_with_commands_is_followed() {
            let known = [$($page),*];
            let summary = fs::read_to_string(Path::new(DOCS).join("SUMMARY.md")).unwrap();
            let pages = summary.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            for (page, _) in pages.filter(|(page, _)| page.contains('/')) {
                let text = fs::read_to_string(Path::new(DOCS).join(page)).unwrap();
                let has_commands = blocks(&text).iter().any(|(mark, _)| mark == "console");
                assert_eq!(has_commands, known.contains(&page), "{page}");
            }
        }
    };
}

pages! {
    first_verdict: "start/first-verdict.md",
    first_comparison: "start/first-comparison.md",
    first_design: "start/first-design.md",
    installed: "how-to/install.md",
    a_disk_is_tested: "how-to/test-a-disk.md",
    runs_are_compared: "how-to/compare-runs.md",
    a_controller_is_inspected: "how-to/inspect-a-controller.md",
    a_cache_is_sized: "how-to/size-a-cache.md",
    a_device_is_tested: "how-to/test-before-mounting.md",
    mailboxes_are_planned: "how-to/mailboxes.md",
    a_paper_is_published: "how-to/white-paper.md",
    a_database_is_read: "how-to/read-a-database.md",
    small_tools: "how-to/small-tools.md",
    support: "how-to/support.md",
    reference: "reference/index.md",
    commands: "reference/commands.md",
}
