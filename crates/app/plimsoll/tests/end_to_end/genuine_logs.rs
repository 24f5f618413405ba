//! Dirty databases of the real engine with their logs: read, checked and brought forward, against
//! what the engine made of them itself.

use std::collections::BTreeMap;
use std::fs;

use testkit::samples;

use crate::engine_rows::tables;
use crate::scene::Scene;

/// The files of a crash in a folder; none if they are not on this machine, which is said.
fn crash(name: &str) -> Option<Scene> {
    let packed = samples::find(&format!("engine/logs/{name}.tar.gz"))?;
    let scene = Scene::new(name);
    for (file, bytes) in samples::files(&packed).unwrap() {
        scene.write(&file, &bytes);
    }
    Some(scene)
}

/// The rows of every table that `words` export, by file name.
fn exported(scene: &Scene, words: &[&str], folder: &str) -> BTreeMap<String, String> {
    let all = ["--all", "--format", "jsonl", "-o", folder];
    let ran = scene.run([&["export"], words, &all].concat());
    // Values that are not decoded are named, and no error.
    assert!([Some(0), Some(2)].contains(&ran.code), "{}", ran.err);
    let files = fs::read_dir(scene.path(folder)).unwrap().map(Result::unwrap);
    files
        .map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            (name, fs::read_to_string(file.path()).unwrap())
        })
        .collect()
}

#[test]
fn a_recovered_copy_holds_what_the_engine_recovered() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    let Some(packed) = samples::find("engine/crashs16-recovered.edb.gz") else {
        return;
    };
    scene.write("theirs.edb", &samples::unpacked(&packed).unwrap());
    let before = scene.snapshot();
    scene
        .run(["recover", "crashs16.edb", "--into", "copy.edb"])
        .expect_code(0)
        .expect_out(&["log generations 0x1 to 0x3", "1 transaction undone (105 changes)"]);
    let after = scene.snapshot();
    assert!(
        before.iter().all(|(path, file)| after.get(path) == Some(file)),
        "a source was written"
    );
    scene.run(["header", "copy.edb"]).expect_code(0).expect_out(&["Clean Shutdown", "0x2150"]);
    scene.run(["check", "copy.edb"]).expect_code(0);
    scene.run(["verify", "copy.edb"]).expect_code(0).expect_out(&["0 problems", "0 leaked"]);
    let (ours, theirs) =
        (exported(&scene, &["copy.edb"], "ours"), exported(&scene, &["theirs.edb"], "theirs"));
    assert!(ours.len() > 5);
    for (table, rows) in &theirs {
        assert!(ours.get(table) == Some(rows), "{table} differs");
    }
}

#[test]
fn every_value_of_every_row_is_what_the_engine_read_after_its_own_recovery() {
    for (name, least) in [("crashs16", 6_000), ("crash08", 13_000)] {
        let Some(scene) = crash(name) else {
            return;
        };
        let Some(packed) = samples::find(&format!("engine/expected/{name}.dump.txt.gz")) else {
            return;
        };
        let database = format!("{name}.edb");
        scene.run(["recover", &database, "--into", "copy.edb"]).expect_code(0);
        scene.run(["verify", "copy.edb"]).expect_code(0).expect_out(&["0 problems"]);
        let rows = exported(&scene, &["copy.edb"], "rows");
        let dump: String =
            samples::unpacked(&packed).unwrap().into_iter().map(char::from).collect();
        let mut compared = 0;
        for table in tables(&dump) {
            let ours = rows.get(&format!("{}.jsonl", table.name));
            let (values, different) = table.compare(ours.map_or("", String::as_str));
            let first = &different[..different.len().min(5)];
            assert!(different.is_empty(), "{name} {}: {first:#?}", table.name);
            compared += values;
        }
        assert!(compared > least, "{name}: {compared} values");
    }
}

#[test]
fn a_replay_in_memory_reads_the_same_rows() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    scene.run(["recover", "crashs16.edb", "--into", "copy.edb"]).expect_code(0);
    let before = scene.snapshot();
    let words = ["crashs16.edb", "--with-logs", "."];
    assert!(exported(&scene, &words, "one") == exported(&scene, &["copy.edb"], "other"));
    let after = scene.snapshot();
    assert!(
        before.iter().all(|(path, file)| after.get(path) == Some(file)),
        "a source was written"
    );
}

#[test]
fn logs_are_checked_as_a_set() {
    let Some(scene) = crash("crash08") else {
        return;
    };
    scene.run(["check", "."]).expect_code(0).expect_out(&[
        "generations 0x1-0x9 complete, edb.log ends at segment 47 without a shutdown, as a crash",
    ]);
    scene.change("edb00000004.log", |bytes| {
        bytes[50 * 4096 + 700] ^= 0x10;
        bytes[60 * 4096 + 700..60 * 4096 + 720].copy_from_slice(b"damage by someone el");
    });
    fs::remove_file(scene.path("edb00000006.log")).unwrap();
    scene.run(["check", "."]).expect_code(1).expect_out(&[
        "generation 0x6 is missing",
        "edb00000004.log is damaged in segment 60",
        "edb00000004.log: one bit flipped, correctable: segment 50 byte 700 bit 4",
    ]);
}

#[test]
fn an_incomplete_log_is_refused_or_replayed_as_far_as_it_goes() {
    let Some(scene) = crash("crash08") else {
        return;
    };
    fs::remove_file(scene.path("edb00000006.log")).unwrap();
    let words = ["recover", "crash08.edb", "--into", "copy.edb"];
    scene.run(words).expect_refusal(&["generation 0x6 is missing", "--lossy"]);
    assert!(!scene.path("copy.edb").exists());
    scene.run([words.as_slice(), &["--lossy"]].concat()).expect_code(1).expect_out(&[
        "log generations 0x1 to 0x5",
        "best effort: the copy ends at 00000005:",
        "lost: generation 0x6 is missing",
        "lost: changes of generations 0x6 to 0x9; generation 0x9 was begun 2026-11-27",
        "is ahead: it has changes of lost generations",
    ]);
}

/// A set whose log ends early, by generations or within one, and how the report says so.
fn lossy(scene: &Scene, copy: &str) -> crate::scene::Ran {
    let ran = scene.run(["recover", "crash08.edb", "--into", copy, "--lossy"]);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    // What the copy has of lost generations may contradict the rest; nothing worse.
    for verb in ["verify", "check"] {
        let judged = scene.run([verb, copy]);
        assert!([Some(0), Some(1)].contains(&judged.code), "{verb}: {}", judged.err);
    }
    ran
}

#[test]
fn a_log_that_ends_after_any_generation_brings_the_copy_that_far() {
    let Some(scene) = crash("crash08") else {
        return;
    };
    for last in (1..9).rev() {
        let name = if last == 8 { "edb.log".into() } else { format!("edb{:08x}.log", last + 1) };
        fs::remove_file(scene.path(&name)).unwrap();
        let ran = lossy(&scene, &format!("copy{last}.edb"));
        let lost = match last {
            8 => "lost: generation 0x9 is missing".to_owned(),
            last => format!("lost: generations {:#X}-0x9 are missing", last + 1),
        };
        let end = format!("the copy ends at {last:08x}:");
        ran.expect_code(1).expect_out(&[&lost, &end, "was begun", "page "]);
    }
}

#[test]
fn a_database_without_its_logs_is_not_called_recovered() {
    let Some(scene) = crash("crash08") else {
        return;
    };
    fs::create_dir(scene.path("none")).unwrap();
    let words = ["recover", "crash08.edb", "--into", "copy.edb", "--logs", "none", "--lossy"];
    scene.run(words).expect_refusal(&["has no log file that it requires", "`export` reads"]);
    assert!(!scene.path("copy.edb").exists());
}

#[test]
fn logs_of_another_stream_in_the_folder_play_no_part() {
    let (Some(scene), Some(other)) = (crash("crashs16"), crash("crash08")) else {
        return;
    };
    for generation in 4..9 {
        let name = format!("edb{generation:08x}.log");
        fs::copy(other.path(&name), scene.path(format!("other{generation}.log"))).unwrap();
    }
    scene.run(["recover", "crashs16.edb", "--into", "copy.edb"]).expect_code(0);
    scene.run(["verify", "copy.edb"]).expect_code(0).expect_out(&["0 problems"]);
    let every_stream =
        ["generations 0x4-0x8 complete", "another log stream: generations 0x1-0x3 complete"];
    scene.run(["check", "."]).expect_code(0).expect_out(&every_stream);
    scene.change("edb00000002.log", |bytes| bytes[60 * 4096 + 700..][..8].fill(0x77));
    let damage = ["edb00000002.log is damaged in segment 60"];
    scene.run(["check", "."]).expect_code(1).expect_out(&damage);
}

#[test]
fn a_log_of_an_earlier_format_is_named_and_refused() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    fs::copy(scene.path("edb.log"), scene.path("old.log")).unwrap();
    scene.change("old.log", |bytes| {
        bytes[32] = 7;
        let words = bytes[4..4096].chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]);
        let sum = words.map(u32::from_le_bytes).fold(0x89AB_CDEF, |sum, word| sum ^ word);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
    });
    scene.run(["header", "old.log"]).expect_code(0).expect_out(&["7.4000"]);
    for verb in ["check", "dump"] {
        scene.run([verb, "old.log"]).expect_refusal(&["old.log", "format 7, of Windows 7"]);
    }
    scene.run(["check", "."]).expect_refusal(&["old.log", "format 7, of Windows 7"]);
    scene.run(["recover", "crashs16.edb", "--into", "copy.edb"]).expect_code(0);
}

#[test]
fn a_log_that_is_cut_within_a_generation_brings_the_copy_that_far() {
    for (cut, segment) in [(4, 1), (4, 2), (4, 100), (4, 254), (7, 30)] {
        let Some(scene) = crash("crash08") else {
            return;
        };
        let name = format!("edb{cut:08x}.log");
        scene.change(&name, |bytes| bytes.truncate(segment * 4096 + 17));
        let at = format!("ends before segment {segment}");
        let refused = scene.run(["recover", "crash08.edb", "--into", "copy.edb"]);
        refused.expect_refusal(&[&name, &at, "--lossy"]);
        let lost = format!("lost: changes of generations {cut:#X} to 0x9");
        lossy(&scene, "copy.edb").expect_code(1).expect_out(&[&at, &lost]);
    }
}

#[test]
fn redo_alone_leaves_a_dirty_copy_that_nothing_recovers() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    scene.run(["recover", "crashs16.edb", "--into", "redone.edb", "--no-undo"]).expect_code(0);
    scene.run(["header", "redone.edb"]).expect_code(0).expect_out(&["Dirty Shutdown"]);
    // Its pages do not hold any more what undo needs.
    let again = scene.run(["recover", "redone.edb", "--into", "copy.edb"]);
    again.expect_refusal(&["generation 0x4 is missing"]);
}

#[test]
fn the_history_of_a_table_names_changes_and_their_ends() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    scene.run(["recover", "crashs16.edb", "--into", "copy.edb"]).expect_code(0);
    fs::remove_file(scene.path("crashs16.edb")).unwrap();
    let words = ["dump", ".", "--table", "AllTypes", "--database", "copy.edb", "--json"];
    let history = scene.run(words);
    history.expect_code(0);
    for name in ["Insert", "FlagDelete", "Commit0", "Split"] {
        assert!(history.out.contains(&format!("\"name\":\"{name}\"")), "{name}");
    }
    assert!(history.out.contains("\"transaction_end\":{\"is_commit\":true"), "a committed one");
    assert!(history.out.contains("\"transaction_end\":null"), "the one that the crash cut off");
    let page = scene.run(["dump", "edb.log", "--page", "133"]);
    page.expect_code(0).expect_out(&["page 133", "dbtime_before", "committed at 0000"]);
}

#[test]
fn every_change_of_a_page_is_in_its_history() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    let words = ["--page", "133", "--json"];
    let all = scene.run([["dump", "."].as_slice(), &words].concat()).out;
    let changes = |line: &&str| line.contains("dbtime_before");
    let each = ["edb00000001.log", "edb00000002.log", "edb.log"].map(|log| {
        scene.run([["dump", log].as_slice(), &words].concat()).out.lines().filter(changes).count()
    });
    assert_eq!(all.lines().filter(changes).count(), each.iter().sum::<usize>());
    assert!(each.iter().all(|changes| *changes < 10_000));
}

#[test]
fn the_header_of_a_log_shows_how_the_engine_was_set_up() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    for file in ["edb.log", "edb.chk"] {
        scene.run(["header", file]).expect_code(0).expect_out(&[
            "system path",
            "circular logging",
            "most version pages",
        ]);
    }
}

#[test]
fn rows_that_the_log_deletes_are_exported_with_their_record() {
    let Some(scene) = crash("crashs16") else {
        return;
    };
    let words = ["export", "crashs16.edb", "--table", "AllTypes", "--with-logs", ".", "--json"];
    let live = scene.run(words).out;
    let all = scene.run([words.as_slice(), &["--deleted"]].concat()).out;
    assert!(all.lines().all(|line| line.contains("\"!source\":\"")), "each has a source");
    let of_pages = all.lines().filter(|line| line.contains("\"!source\":\"page "));
    // Deletes that were never committed took nothing.
    assert_eq!(of_pages.count(), live.lines().count());
    let of_log = all.lines().filter(|line| line.contains("\"!source\":\"log "));
    assert!(of_log.clone().all(|line| !line.contains("\"!deleted_at\":null")));
    assert!(of_log.clone().all(|line| line.starts_with("{\"!deleted\":true")));
}
