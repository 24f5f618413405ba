//! Every kind of damage is named for what it is, with page and file; exit status 1; the file is
//! only read.

use ese::page::PageMut;
use units::PageNumber;

use crate::scene::{PAGE_BYTES, Ran, Scene};

const FILE: &str = "Plimsoll001.edb";
const MAP: &str = "Plimsoll001.jfm";

/// Offset of a page in the file.
const fn at(page: usize) -> usize {
    (page + 1) * PAGE_BYTES
}

/// Checks a prepared database after `change`.
fn check(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Ran {
    let scene = Scene::prepared(name);
    scene.change(FILE, change);
    let before = scene.read(FILE);
    let ran = scene.run(["check", FILE, "Plimsoll002.edb"]);
    assert!(scene.read(FILE) == before, "check writes nothing");
    ran
}

#[test]
fn sound_databases_pass() {
    check("sound", |_| {}).expect_code(0).expect_out(&["Plimsoll001.edb", "Plimsoll002.edb"]);
}

#[test]
fn one_flipped_bit_is_located() {
    for (page, byte, bit) in [(40, 9_000, 3), (41, 100, 7), (200, PAGE_BYTES - 1, 0)] {
        check("one-bit", |bytes| bytes[at(page) + byte] ^= 1 << bit).expect_code(1).expect_out(&[
            &format!("{FILE}: page {page}: one bit flipped at byte {byte} bit {bit}"),
        ]);
    }
}

#[test]
fn what_to_do_about_a_flipped_bit_is_said() {
    let scene = Scene::prepared("one-bit-next");
    scene.change(FILE, |bytes| bytes[at(40) + 9_000] ^= 1 << 3);
    for verb in ["check", "verify"] {
        scene.run([verb, FILE]).expect_code(1).expect_out(&[
            "Next: page 40: the data is intact",
            &format!("plimsoll export {FILE} --all -o DIR"),
            "memory test",
            "plimsoll inspect .",
        ]);
        let sound = scene.run([verb, "Plimsoll002.edb"]);
        assert!(!sound.expect_code(0).out.contains("Next:"), "{}", sound.out);
    }
    scene.run(["export", FILE, "--all", "-o", "DIR"]).expect_code(1);
}

/// Damage that no checksum sees: the page is whole, but differs from the one written.
#[test]
fn a_message_that_was_changed_under_a_good_checksum_is_named() {
    for page in [40, 200] {
        let scene = Scene::prepared("forged");
        scene.change(FILE, |bytes| {
            let image = &mut bytes[at(page)..at(page + 1)];
            image[9_000] ^= 1;
            let number = u32::try_from(page).unwrap();
            PageMut::new(image).seal(PageNumber(number));
        });
        scene
            .run(["verify", FILE])
            .expect_code(1)
            .expect_out(&["1 message is not what was written", "table Messages, page "])
            .expect_out(&[" 1 problem; "]);
        scene
            .run(["verify", "Plimsoll002.edb"])
            .expect_code(0)
            .expect_out(&["Plimsoll002.edb: 0 messages are not what was written"]);
    }
}

#[test]
fn two_flipped_bits_are_beyond_repair() {
    check("two-bits", |bytes| {
        bytes[at(40) + 9_000] ^= 1;
        bytes[at(40) + 9_001] ^= 1;
    })
    .expect_code(1)
    .expect_out(&[&format!("{FILE}: page 40: damaged beyond repair")]);
}

#[test]
fn swapped_pages_name_each_other() {
    check("swapped", |bytes| {
        let (first, second) = bytes.split_at_mut(at(60));
        first[at(50)..at(51)].swap_with_slice(&mut second[..PAGE_BYTES]);
    })
    .expect_code(1)
    .expect_out(&[
        &format!("{FILE}: page 50: holds page 60, and page 60 holds this one: swapped"),
        &format!("{FILE}: page 60: holds page 50, and page 50 holds this one: swapped"),
    ]);
}

#[test]
fn a_page_in_place_of_a_header_is_named() {
    check("misdirected-to-header", |bytes| {
        bytes.copy_within(at(50)..at(51), PAGE_BYTES);
    })
    .expect_code(1)
    .expect_out(&[&format!(
        "{FILE}: the second copy of the header holds page 50: a write went to the wrong place"
    )]);
}

#[test]
fn a_misdirected_write_is_named() {
    check("misdirected", |bytes| {
        bytes.copy_within(at(50)..at(51), at(60));
    })
    .expect_code(1)
    .expect_out(&[&format!("{FILE}: page 60: holds page 50: a write went to the wrong place")]);
}

#[test]
fn a_wiped_page_is_told_from_one_never_written() {
    let scene = Scene::prepared("wiped");
    scene.change(FILE, |bytes| bytes[at(70)..at(71)].fill(0));
    let checked = scene.run(["check", FILE]);
    checked.expect_code(1).expect_out(&[&format!(
        "{FILE}: page 70: lost flush: all zeros, but a write of it was acknowledged"
    )]);
    // Without the flush map the trees still tell.
    std::fs::remove_file(scene.path(MAP)).unwrap();
    let checked = scene.run(["check", FILE]);
    checked
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: page 70: all zeros, but a tree points to it")]);
}

/// Gives page 50 the flush type that it had one write earlier, and a good checksum.
fn lose_a_write(bytes: &mut [u8]) {
    let page = &mut bytes[at(50)..at(51)];
    let mut older = ese::page::PageMut::new(page);
    older.set_flush_type(3);
    older.seal(units::PageNumber(50));
}

#[test]
fn a_lost_write_is_counted_apart() {
    let scene = Scene::prepared("lost");
    scene.change(FILE, |bytes| lose_a_write(bytes));
    let ran = scene.run(["check", FILE]);
    ran.expect_code(1).expect_out(&[
        &format!("{FILE}: page 50: lost flush: its last write was acknowledged"),
        "lost flushes",
    ]);
    let ran = scene.run(["check", "--json", FILE]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["files"][0]["lost_flush_pages"], 1);
    assert_eq!(answer["files"][0]["wrong_page_number_pages"], 0);
    assert_eq!(answer["files"][0]["findings"][0]["damage"], "lost_flush");
    assert_eq!(answer["files"][0]["flush_map"], "believed");
}

#[test]
fn a_flush_map_that_cannot_be_believed_judges_nothing() {
    let scene = Scene::prepared("no-map");
    scene.change(FILE, |bytes| lose_a_write(bytes));
    std::fs::copy(scene.path("Plimsoll002.jfm"), scene.path(MAP)).unwrap();
    let foreign = scene.run(["check", FILE]);
    foreign.expect_code(0);
    assert!(foreign.err.contains("the flush map belongs to another database"), "{}", foreign.err);
    std::fs::remove_file(scene.path(MAP)).unwrap();
    let ran = scene.run(["check", "--json", FILE]);
    ran.expect_code(0);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["files"][0]["lost_flush_pages"], serde_json::Value::Null);
    assert_eq!(answer["files"][0]["flush_map"], "missing");
}

#[test]
fn a_damaged_flush_map_is_damage() {
    let scene = Scene::prepared("bad-map");
    scene.change(MAP, |bytes| bytes[9_000] ^= 1);
    scene.run(["check", FILE]).expect_code(1).expect_out(&["the flush map beside it is damaged"]);
}

#[test]
fn the_header_of_a_flush_map_pairs_with_its_database() {
    let scene = Scene::prepared("map-header");
    let answer = |file: &str| -> serde_json::Value {
        let ran = scene.run(["header", "--json", file]);
        ran.expect_code(0);
        serde_json::from_str(&ran.out).unwrap()
    };
    let (database, map) = (answer(FILE), answer(MAP));
    assert_eq!(map["file_kind"], "flush map");
    assert_eq!(map["database_flush"], database["header_flush_signature"]);
    assert_eq!(map["map_flush"], database["flush_map_signature"]);
    scene.run(["header", MAP]).expect_out(&["own signature", "last detached"]);
}

#[test]
fn truncated_files_are_named() {
    check("cut-in-page", |bytes| bytes.truncate(at(100) + 5_000))
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: truncated: the file ends inside page 100")]);
    check("cut-at-page", |bytes| bytes.truncate(at(101))).expect_code(1).expect_out(&[&format!(
        "{FILE}: truncated: the file ends with page 100, the database owns"
    )]);
}

/// The rows may all be there; those who take them must hear that the file is not whole.
#[test]
fn every_verb_that_reads_a_database_names_a_truncated_file() {
    let scene = Scene::prepared("cut-and-read");
    scene.change(FILE, |bytes| bytes.truncate(bytes.len() - 20_000));
    for words in [
        &["space", FILE][..],
        &["schema", FILE],
        &["export", FILE],
        &["export", FILE, "--table", "Messages"],
    ] {
        scene.run(words).expect_code(1).expect_err(&["truncated: the file ends with page"]);
    }
}

/// The lost pages were free and had never been written, so no remaining page points to them.
#[test]
fn a_lost_free_end_is_named_by_either_space_tree_and_else_unknown() {
    let lose = |bytes: &mut Vec<u8>, pages: &[usize]| {
        bytes.truncate(bytes.len() - PAGE_BYTES * 2);
        for page in pages {
            for (byte, noise) in bytes[at(*page)..][1_000..1_200].iter_mut().zip(3_u8..) {
                *byte ^= noise.wrapping_mul(41);
            }
        }
    };
    for (name, pages) in [("no-owned", 2), ("no-free", 3)] {
        check(name, |bytes| lose(bytes, &[pages])).expect_code(1).expect_out(&[
            &format!("{FILE}: truncated: the file ends with page"),
            "owns pages up to",
        ]);
    }
    check("no-space-trees", |bytes| lose(bytes, &[2, 3])).expect_code(1).expect_out(&[
        &format!("{FILE}: whether the file was cut off after page"),
        "cannot be known: the pages that say what the database owns are damaged",
    ]);
}

#[test]
fn a_database_that_lost_its_free_end_is_not_run() {
    let scene = Scene::prepared("cut-and-run");
    scene.change(FILE, |bytes| bytes.truncate(bytes.len() - 20_000));
    scene.run(["run", "plan.toml", "--duration", "6s", "-o", "run"]).expect_refusal(&[
        "Plimsoll001.edb: has lost its end: 19.5 KiB of the 16.0 MiB",
        "--reset",
    ]);
}

#[test]
fn a_file_that_ends_with_its_header_is_truncated() {
    for pages in [0, 1, 3] {
        check("cut-behind-header", |bytes| bytes.truncate(at(pages + 1)))
            .expect_code(1)
            .expect_out(&[&format!("{FILE}: truncated: the file ends with page {pages}, ")]);
    }
}

#[test]
fn a_header_says_that_its_file_is_truncated() {
    let scene = Scene::prepared("cut-header");
    let whole = scene.read(FILE);
    scene.run(["header", FILE]).expect_code(0);
    for (length, said) in [
        (at(60), "truncated: the file ends with page 59, the database owns pages up to"),
        (at(60) + 777, "truncated: the file ends inside page 60"),
        (at(1), "truncated: the file ends with page 0, before the pages that say"),
    ] {
        scene.write(FILE, &whole[..length]);
        let ran = scene.run(["header", FILE]);
        ran.expect_code(1).expect_out(&["page size", said]);
        let json = scene.run(["header", FILE, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&json.expect_code(1).out).unwrap();
        assert!(
            json["file_faults"][0].as_str().is_some_and(|fault| said.starts_with(&fault[..30]))
        );
    }
}

#[test]
fn a_file_without_its_beginning_is_named() {
    for (pages, place) in [(1, "1 before"), (2, "2 before"), (5, "5 before")] {
        let ran = check("cut-beginning", |bytes| drop(bytes.drain(..at(pages - 1))));
        ran.expect_code(1).expect_out(&[&format!(
            "{FILE}: cut off at its beginning: every page lies {place} its place"
        )]);
    }
}

/// Roots that no page of a tree points to: fixed places, space trees, and what the catalog names.
#[test]
fn a_wiped_root_is_named_without_a_flush_map() {
    let scene = Scene::prepared("wiped-root");
    std::fs::remove_file(scene.path(MAP)).unwrap();
    let sound = scene.read(FILE);
    let space = scene.run(["space", "--json", FILE]);
    let space: serde_json::Value = serde_json::from_str(&space.out).unwrap();
    let trees = space["trees"].as_array().unwrap().iter();
    let roots = trees.map(|tree| usize::try_from(tree["root"].as_u64().unwrap()).unwrap());
    for page in roots.chain([2, 3, 5, 6]) {
        scene.write(FILE, &sound);
        scene.change(FILE, |bytes| bytes[at(page)..at(page + 1)].fill(0));
        scene
            .run(["check", FILE])
            .expect_code(1)
            .expect_out(&[&format!("{FILE}: page {page}: all zeros, but a tree points to it")]);
    }
}

#[test]
fn damaged_headers_are_named() {
    check("first-header", |bytes| bytes[..100].fill(0))
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: the first copy of the header is damaged")]);
    check("bit-of-header", |bytes| bytes[PAGE_BYTES + 700] ^= 0x20).expect_code(1).expect_out(&[
        &format!(
            "{FILE}: the second copy of the header is damaged: one bit flipped at byte 700 bit 5; \
             the first one is good"
        ),
    ]);
    check("second-header", |bytes| {
        bytes[PAGE_BYTES..PAGE_BYTES + 700].fill(0);
    })
    .expect_code(1)
    .expect_out(&[&format!("{FILE}: the second copy of the header is damaged")]);
    check("both-headers", |bytes| bytes[..2 * PAGE_BYTES].fill(0))
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: both copies of the header are damaged")]);
}

/// Pages without a header are a damaged database to every reader, and are still read.
#[test]
fn a_database_without_its_header_gets_one_answer_from_every_reader() {
    let scene = Scene::prepared("lost-header");
    scene.change(FILE, |bytes| bytes[..2 * PAGE_BYTES].fill(0));
    let lost = format!("{FILE}: both copies of the header are damaged");
    for verb in ["check", "verify", "header"] {
        let step = "Next: the header is lost in this copy: restore or reseed";
        scene.run([verb, FILE]).expect_code(1).expect_out(&[&*lost, step]);
    }
    scene.run(["verify", FILE]).expect_code(1).expect_out(&[&format!("{FILE}: 1 problem; ")]);
    scene.run(["export", FILE, "--all", "-o", "DIR"]).expect_code(1).expect_err(&[&*lost]);
    assert!(std::fs::read_dir(scene.path("DIR")).is_ok_and(|all| all.count() > 3));
}

/// Without a header and without pages nothing can be judged.
#[test]
fn a_file_cut_in_its_header_gets_one_answer_from_every_reader() {
    let scene = Scene::prepared("cut-in-header");
    scene.change(FILE, |bytes| bytes.truncate(PAGE_BYTES - 1_000));
    for verb in ["check", "verify", "header"] {
        let ran = scene.run([verb, FILE]);
        ran.expect_code(2).expect_err(&[FILE, "neither copy of the database header is good"]);
    }
}

#[test]
fn the_step_of_the_worst_damage_comes_first() {
    let scene = Scene::prepared("worst-next");
    scene.change(FILE, |bytes| {
        bytes[at(299)..at(300)].fill(0xA7);
        bytes[at(40) + 9_000] ^= 1 << 3;
    });
    for verb in ["check", "verify"] {
        let ran = scene.run([verb, FILE]);
        let steps = ["Next: page 299 is lost in this copy", "Then: page 40: the data is intact"];
        let [worst, flipped] = steps.map(|step| ran.expect_code(1).out.find(step));
        assert!(worst.is_some() && worst < flipped, "{}", ran.out);
    }
    scene.change(FILE, |bytes| bytes.truncate(at(101)));
    for verb in ["check", "verify"] {
        scene.run([verb, FILE]).expect_code(1).expect_out(&["Next: pages are missing"]);
    }
}

#[test]
fn every_reader_names_a_damaged_copy_of_the_header() {
    let scene = Scene::prepared("read-header");
    scene.change(FILE, |bytes| bytes[..100].fill(0));
    let named = format!("{FILE}: the first copy of the header is damaged");
    scene.run(["verify", FILE]).expect_code(1).expect_out(&[&named, "1 problem;"]);
    for read in ["export", "schema", "space"] {
        let ran = scene.run([read, FILE]);
        ran.expect_code(1);
        assert!(ran.err.contains(&named), "{read}: {}", ran.err);
    }
    let recovered = scene.run(["recover", FILE]);
    let step = "Next: this damage costs no data";
    recovered.expect_code(1).expect_out(&["was closed properly", &named, step]);
    for read in ["verify", "header", "recover"] {
        let json = scene.run([read, "--json", FILE]);
        json.expect_code(1);
        let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        let fault = answer["file_faults"][0].as_str();
        assert!(fault.is_some_and(|of| of.starts_with("the first copy")), "{read}: {}", json.out);
    }
}

#[test]
fn a_bit_that_changed_in_an_unused_page_is_a_problem_to_verify_too() {
    let scene = Scene::prepared("flip-unused");
    scene.change(FILE, |bytes| {
        let pages = bytes.len() / PAGE_BYTES - 2;
        let is_empty = |page: &usize| bytes[at(*page)..at(page + 1)].iter().all(|byte| *byte == 0);
        let unused = (1..=pages).find(is_empty).unwrap();
        bytes[at(unused) + 700] ^= 0x20;
    });
    scene.run(["check", FILE]).expect_code(1);
    let parts = ["no data is touched", "1 problem;"];
    scene.run(["verify", FILE]).expect_code(1).expect_out(&parts);
}

#[test]
fn programs_read_the_same_findings() {
    let scene = Scene::prepared("check-json");
    scene.change(FILE, |bytes| bytes[at(40) + 9_000] ^= 8);
    let ran = scene.run(["check", "--json", FILE]);
    ran.expect_code(1);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["files"][0]["bad_pages"], 1);
    assert_eq!(answer["files"][0]["correctable_pages"], 1);
    assert_eq!(answer["files"][0]["findings"][0]["page"], 40);
    assert_eq!(answer["files"][0]["findings"][0]["damage"], "flipped_bit");
}
