//! Files as a crash, another engine or a full disk leaves them: what can be judged is, and the rest
//! is said to be open.

use ese::page::PageMut;
use units::PageNumber;

use crate::scene::{PAGE_BYTES, Ran, Scene};

const FILE: &str = "Plimsoll001.edb";

/// Offset of a page in the file.
const fn at(page: usize) -> usize {
    (page + 1) * PAGE_BYTES
}

/// A database whose run was killed.
fn killed(name: &str) -> Scene {
    let scene = Scene::prepared(name);
    scene.load_fully();
    scene.kill_run(&["run", "plan.toml"]);
    scene
}

fn json(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn verify_examines_a_database_that_was_not_closed() {
    let scene = killed("dirty-verify");
    let before = scene.snapshot();
    scene.run(["verify", FILE]).expect_code(2).expect_out(&[
        "Plimsoll001.edb: Dirty Shutdown, log 0x",
        "run plimsoll recover Plimsoll001.edb first",
        "later than the header",
        "cannot be judged before its log is replayed",
    ]);
    let ran = scene.run(["verify", "--json", FILE]);
    ran.expect_code(2);
    assert_eq!(json(&ran)["not_closed"]["log"]["made_by"], "plimsoll");
    assert!(scene.snapshot() == before);
}

#[test]
fn damage_that_no_crash_explains_fails_a_database_that_was_not_closed() {
    let scene = killed("dirty-damaged");
    scene.change(FILE, |bytes| bytes[at(40) + 9_000] ^= 1);
    for verb in ["check", "verify"] {
        scene
            .run([verb, FILE])
            .expect_code(1)
            .expect_out(&["Plimsoll001.edb: Dirty Shutdown, log 0x", "page 40: one bit flipped"]);
    }
}

#[test]
fn missing_pages_come_before_the_log_of_a_database_that_was_not_closed() {
    let scene = killed("dirty-cut");
    scene.change(FILE, |bytes| bytes.truncate(at(100)));
    for verb in ["check", "verify"] {
        let ran = scene.run([verb, FILE]);
        let parts = ["truncated: the file ends with page 99", "Dirty Shutdown", "Next: pages are"];
        let [cut, dirty, next] = parts.map(|part| ran.expect_code(1).out.find(part));
        assert!(cut.is_some() && cut < dirty && dirty < next, "{}", ran.out);
        assert!(!ran.out.contains("run plimsoll recover"), "{}", ran.out);
    }
}

/// Recovery cannot bring missing pages back, whichever verb is asked.
#[test]
fn every_verb_gives_the_same_advice_about_missing_pages() {
    let scene = killed("dirty-cut-advice");
    scene.change(FILE, |bytes| bytes.truncate(at(100)));
    let step = "Next: pages are missing, and recovery cannot bring them back: restore or reseed";
    for words in [
        &["check", FILE][..],
        &["verify", FILE],
        &["header", FILE],
        &["space", FILE],
        &["schema", FILE],
        &["export", FILE],
        &["dump", FILE, "--page", "150"],
        &["recover", FILE],
    ] {
        let ran = scene.run(words);
        let said = format!("{} {}", ran.out, ran.err);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(step), "{words:?}: {said}");
        for other in ["run plimsoll recover", "esentutl"] {
            assert!(!said.contains(other), "{words:?}: {said}");
        }
    }
}

#[test]
fn verify_counts_no_pages_and_awaits_no_log_in_a_file_that_was_cut() {
    let scene = killed("dirty-tiny");
    scene.change(FILE, |bytes| bytes.truncate(at(2) + 1_000));
    let ran = scene.run(["verify", FILE]);
    ran.expect_code(1).expect_out(&["truncated: the file ends inside page 2"]);
    for absent in ["0 pages are", "cannot be judged before its log"] {
        assert!(!ran.out.contains(absent), "{}", ran.out);
    }
}

#[test]
fn a_page_torn_by_a_crash_is_not_called_damaged() {
    let scene = killed("dirty-torn");
    scene.change(FILE, |bytes| {
        let page = &mut bytes[at(40)..at(41)];
        let later = u64::from_le_bytes(page[8..16].try_into().unwrap()) + (1 << 30);
        PageMut::new(page).set_dbtime(later);
        PageMut::new(page).seal(PageNumber(40));
        page[PAGE_BYTES - 4096..].fill(0x5A);
    });
    for verb in ["check", "verify"] {
        scene.run([verb, FILE]).expect_code(2).expect_out(&["page 40: torn"]);
    }
}

#[test]
fn logs_that_are_missing_are_named() {
    let scene = killed("dirty-no-log");
    let copy = Scene::new("dirty-no-log-copy");
    copy.write(FILE, &scene.read(FILE));
    copy.run(["check", FILE]).expect_code(2).expect_out(&[
        "not in its folder: log generation",
        "esentutl /r",
        "plimsoll recover Plimsoll001.edb --log-folder",
    ]);
}

#[test]
fn garbage_in_pages_that_no_table_uses_is_a_range_that_hits_no_data() {
    let scene = Scene::prepared("garbage");
    let space = scene.run(["space", "--json", FILE]);
    space.expect_code(0);
    std::fs::remove_file(scene.path("Plimsoll001.jfm")).unwrap();
    let mut runs: Vec<usize> = Vec::new();
    scene.change(FILE, |bytes| {
        let pages = bytes.len() / PAGE_BYTES - 2;
        runs = (1..=pages)
            .filter(|page| bytes[at(*page)..at(page + 1)].iter().all(|byte| *byte == 0))
            .take(3)
            .collect();
        for page in &runs {
            bytes[at(*page)..at(page + 1)].fill(0xA7);
        }
    });
    assert_eq!(runs.len(), 3);
    let (first, last) = (runs[0], runs[2]);
    let range = format!("pages {first}-{last}: damaged beyond repair");
    let nothing = "in space that no table uses; no data is touched";
    scene.run(["check", FILE]).expect_code(1).expect_out(&[
        &range,
        nothing,
        "all damage lies in space that no table uses",
    ]);
    scene.run(["verify", FILE]).expect_code(0).expect_out(&[&range, nothing, "0 problems"]);
}

#[test]
fn damage_names_the_table_that_it_hits() {
    let scene = Scene::prepared("hit");
    scene.change(FILE, |bytes| bytes[at(200)..at(203)].fill(0xA7));
    scene.run(["check", FILE]).expect_code(1).expect_out(&["pages 200-202", "table Messages"]);
}

#[test]
fn a_cut_file_is_called_cut_and_its_lost_pages_are_ranges() {
    let scene = Scene::prepared("cut");
    scene.change(FILE, |bytes| {
        bytes.truncate(at(300));
        bytes[at(2)..at(3)].fill(0xA7);
    });
    scene.run(["check", FILE]).expect_code(1).expect_out(&["truncated: the file ends with page"]);
    let ran = scene.run(["verify", FILE]);
    ran.expect_code(1).expect_out(&["past the end of the file"]);
    let many = ran.out.lines().filter(|line| line.contains("past the end")).count();
    assert!(many < 20, "{many} lines: {}", ran.out);
    let outside = ran.out.lines().filter(|line| line.contains("among those that the tree owns"));
    assert!(outside.count() < 20, "{}", ran.out);
    ran.expect_out(&[" pages)"]);
}

#[test]
fn verify_takes_many_files_and_check_orders_them_by_name() {
    let scene = Scene::prepared("many");
    scene
        .run(["verify", FILE, "Plimsoll002.edb"])
        .expect_code(0)
        .expect_out(&["Plimsoll001.edb: 0 problems", "Plimsoll002.edb: 0 problems"]);
    let ran = scene.run(["check", "Plimsoll002.edb", FILE]);
    let place = |name| ran.out.find(name).unwrap();
    assert!(place("Plimsoll001.edb: ") < place("Plimsoll002.edb: "), "{}", ran.out);
}

#[test]
fn a_reserved_log_holds_nothing_and_is_no_damage() {
    let scene = Scene::new("reserved");
    scene.write("edbres00001.jrs", &vec![0xDA; 70_000]);
    scene.write("edbtmp.log", &vec![0; 70_000]);
    // So Windows 7 fills them.
    let mut old = vec![0xDA; 70_000];
    for (digit, at) in (0..=0xF0).step_by(0x10).cycle().zip((0..old.len()).step_by(16)) {
        old[at] = digit | 0x0A;
    }
    scene.write("res1.log", &old);
    for name in ["edbres00001.jrs", "edbtmp.log", "res1.log"] {
        scene.run(["header", name]).expect_code(0).expect_out(&["reserved log file", "nothing"]);
    }
    for verb in ["check", "verify", "export"] {
        scene
            .run([verb, "edbtmp.log"])
            .expect_refusal(&["edbtmp.log", "room that an engine keeps"]);
    }
    let mut broken = vec![0xDA; 70_000];
    broken[66_000] = 1;
    scene.write("edbres00002.jrs", &broken);
    let ran = scene.run(["header", "edbres00002.jrs"]);
    assert_ne!(ran.code, Some(0));
}

#[test]
fn a_flush_map_that_knows_few_pages_says_how_many() {
    let scene = killed("few-known");
    scene.run(["recover", FILE]).expect_code(0);
    let ran = scene.run(["check", "--json", FILE]);
    let answer = json(&ran);
    let file = &answer["files"][0];
    let known = file["flush_map_pages"].as_u64().unwrap();
    if known < file["seen_pages"].as_u64().unwrap() {
        let ran = scene.run(["check", FILE]);
        ran.expect_out(&[&format!("lost flushes 0 (of {known} pages that the flush map knows)")]);
    }
}

#[test]
fn pages_without_checksums_are_those_of_a_temporary_database() {
    let scene = Scene::prepared("temporary");
    scene.change(FILE, |bytes| {
        for copy in [0, PAGE_BYTES] {
            let header = &mut bytes[copy..copy + PAGE_BYTES];
            header[52..56].copy_from_slice(&1_u32.to_le_bytes());
            let words = header[4..].chunks_exact(4);
            let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
            let sum = words.fold(0x89AB_CDEF, |sum: u32, word| sum ^ word);
            header[..4].copy_from_slice(&sum.to_le_bytes());
        }
        for page in 1..bytes.len() / PAGE_BYTES - 1 {
            bytes[at(page)..at(page) + 8].fill(0);
        }
    });
    scene.run(["check", FILE]).expect_code(2).expect_out(&["pages without checksums: "]);
    scene.run(["verify", FILE]).expect_code(2).expect_out(&["without checksums"]);
    let words = ["export", FILE, "--table", "MSysObjects"];
    scene.run(words).expect_code(1);
    let words = ["export", FILE, "--table", "MSysObjects", "--without-checksums"];
    scene.run(words).expect_code(2).expect_out(&["Messages"]);
}
