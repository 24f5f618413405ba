//! What a database is made of, and what its logs and checkpoints say of themselves.

use serde_json::Value;
use testkit::samples::databases;

use crate::samples::unpack;
use crate::scene::Scene;

const OWN: &str = "Plimsoll001.edb";

fn json(scene: &Scene, words: &[&str]) -> Value {
    let ran = scene.run(words);
    ran.expect_code(0);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn our_own_schema_is_printed() {
    let scene = Scene::prepared("schema");
    scene.run(["schema", OWN, "Messages"]).expect_code(0).expect_out(&[
        "table Messages",
        "      1  long long              8  MessageId  fixed not-null",
        "long binary",
        "primary unique",
        "+MessageId",
        "long values: object",
    ]);
    scene.run(["schema", OWN, "Absent"]).expect_refusal(&["has no table Absent"]);
    let all = json(&scene, &["schema", "--json", OWN]);
    let names: Vec<&str> = all["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| table["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"MSysObjects") && names.contains(&"Messages"));
}

/// As dissect.esedb reads the same files.
#[test]
fn schemas_of_real_files_are_those_of_their_authors() {
    for packed in databases() {
        let scene = Scene::new("schema-sample");
        unpack(&packed, &scene);
        let all = json(&scene, &["schema", "--json", "sample.edb"]);
        let table = |name: &str| -> Option<Value> {
            let tables = all["tables"].as_array().unwrap().iter();
            tables.clone().find(|table| table["name"] == name).cloned()
        };
        let catalog = table("MSysObjects").unwrap();
        assert_eq!(catalog["root"], 4);
        assert_eq!(catalog["columns"][0]["name"], "ObjidTable");
        let Some(multi) = table("multi") else {
            continue;
        };
        let columns = multi["columns"].as_array().unwrap();
        let many = columns.iter().filter(|column| {
            let names = column["flag_names"].as_array().unwrap();
            names.iter().any(|name| name == "multi-valued")
        });
        assert!(many.count() > 5, "{multi}");
        assert_eq!(columns[0]["flag_names"][1], "auto-increment", "{multi}");
    }
}

#[test]
fn members_stand_in_the_order_of_the_schema() {
    let scene = Scene::prepared("order");
    let table = &json(&scene, &["schema", "--json", OWN, "Messages"])["tables"][0];
    let columns = table["columns"].as_array().unwrap();
    let ran = scene.run(["export", OWN, "--table", "Messages", "--json"]);
    let first = ran.out.lines().next().unwrap().to_owned();
    let places: Vec<usize> = columns
        .iter()
        .map(|column| first.find(&format!("\"{}\":", column["name"].as_str().unwrap())).unwrap())
        .collect();
    assert!(places.is_sorted(), "{first}");
    let csv = scene.run(["export", OWN, "--table", "Messages"]).out;
    let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(csv.lines().next().unwrap(), names.join(","));
}

#[test]
fn every_table_goes_to_a_file_of_its_own() {
    let scene = Scene::prepared("all");
    let before = scene.read(OWN);
    let words = ["export", OWN, "--all", "-o", "out"];
    scene.run(words).expect_code(0).expect_out(&["rows of Messages in out/Messages.csv"]);
    let csv = scene.run(["export", OWN, "--table", "Messages"]).out;
    assert!(scene.read("out/Messages.csv") == csv.as_bytes());
    // Nothing is written over, not even in part.
    scene.write("out/Messages.csv", b"mine");
    std::fs::remove_file(scene.path("out/MSysObjects.csv")).unwrap();
    scene.run(words).expect_refusal(&["is there already", "--force"]);
    assert_eq!(scene.read("out/Messages.csv"), b"mine");
    assert!(!scene.path("out/MSysObjects.csv").exists());
    // A link leads to the database itself: it is replaced and not followed.
    std::fs::remove_file(scene.path("out/Messages.csv")).unwrap();
    std::os::unix::fs::symlink(scene.path(OWN), scene.path("out/Messages.csv")).unwrap();
    scene.run(words).expect_refusal(&["is there already"]);
    scene.run(words.iter().chain(&["--force"])).expect_code(0);
    assert!(scene.read("out/Messages.csv") == csv.as_bytes());
    assert!(scene.read(OWN) == before);
    scene.run(["export", OWN, "--all"]).expect_code(64);
}

#[test]
fn deleted_rows_come_on_request() {
    let scene = Scene::prepared("deleted");
    let size = crate::scene::PAGE_BYTES;
    let all = scene.run(["export", OWN, "--table", "Messages", "--json"]).out;
    // The first leaf of the table: flag its second row as deleted.
    let dumped = json(&scene, &["schema", "--json", OWN, "Messages"]);
    let root = dumped["tables"][0]["root"].as_u64().unwrap().to_string();
    let page = json(&scene, &["dump", OWN, "--json", "--page", &root]);
    let child = page["nodes"][0]["data"].as_str().unwrap().to_owned();
    let child = u32::from_str_radix(&child, 16).unwrap().swap_bytes();
    scene.change(OWN, |bytes| {
        let start = (child as usize + 1) * size;
        let mut page = ese::page::PageMut::new(&mut bytes[start..start + size]);
        let flags = page.as_ref().node(1).unwrap().flags;
        page.set_node_flags(1, flags | ese::page::node_flags::DELETED).unwrap();
        page.seal(units::PageNumber(child));
    });
    let left = scene.run(["export", OWN, "--table", "Messages", "--json"]).out;
    assert_eq!(left.lines().count() + 1, all.lines().count());
    let with = ["export", OWN, "--table", "Messages", "--json", "--deleted"];
    let with = scene.run(with).out;
    let marked: Vec<&str> =
        with.lines().filter(|line| line.starts_with("{\"!deleted\":true,")).collect();
    assert_eq!(marked.len(), 1);
    let second = all.lines().nth(1).unwrap();
    assert_eq!(marked[0].replacen("\"!deleted\":true,", "", 1), second);
    let csv = scene.run(["export", OWN, "--table", "Messages", "--deleted"]).out;
    assert!(csv.starts_with("!deleted,MessageId,"), "{}", &csv[..80]);
}

#[test]
fn headers_of_our_logs_and_of_real_ones_are_read() {
    let scene = Scene::prepared("log-headers");
    scene.kill_run(&["run", "plan.toml"]);
    let log = json(&scene, &["header", "--json", "E00.plg"]);
    assert_eq!(log["file_kind"], "log file of Plimsoll");
    let own = ["segment_bytes", "header_segments", "segments"].map(|key| log[key].as_u64());
    let long = [4096, 1, 256].map(Some);
    assert!(own == long || own == [512, 8, 2048].map(Some), "{own:?}");
    let checkpoint = json(&scene, &["header", "--json", "E00.pck"]);
    assert_eq!(checkpoint["file_kind"], "checkpoint");
    assert_eq!(checkpoint["signature"], log["signature"]);
    // As a real engine writes it: its version, its attachment, a checksum over all.
    for segments in [[512, 8, 2048], [4096, 1, 256]] {
        scene.write("E00.log", &real_log(segments));
        let log = json(&scene, &["header", "--json", "E00.log"]);
        let stated = ["segment_bytes", "header_segments", "segments"].map(|key| log[key].as_u64());
        assert_eq!(stated, segments.map(|number| Some(u64::from(number))));
    }
    let log = json(&scene, &["header", "--json", "E00.log"]);
    assert_eq!((&log["file_kind"], &log["format"]), (&"log file".into(), &"8.4000.4.5".into()));
    assert_eq!(log["generation"], "0x2a");
    assert_eq!(log["flags"], "circular");
    assert_eq!(log["attached"][0]["path"], "C:\\mail\\Mailbox.edb");
    scene
        .run(["header", "E00.log"])
        .expect_code(0)
        .expect_out(&["8.4000.4.5", "path C:\\mail\\Mailbox.edb"]);
    scene.change("E00.log", |bytes| bytes[700] ^= 1);
    scene
        .run(["header", "E00.log"])
        .expect_code(1)
        .expect_err(&["a log file", "checksum is wrong"]);
    // One good copy of a checkpoint is enough to read it.
    scene.change("E00.pck", |bytes| bytes[20] ^= 1);
    let ran = scene.run(["header", "E00.pck"]);
    ran.expect_code(1).expect_out(&["first copy               damaged", "redo begins at"]);
}

/// The header of a log file as the engine's own documents have it: bytes of a segment, segments of
/// the header, and of the file.
fn real_log(segments: [u16; 3]) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 20];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(4, &42u32.to_le_bytes());
    for (at, number) in [8, 10, 12].into_iter().zip(segments) {
        put(at, &number.to_le_bytes());
    }
    for (at, number) in [(32, 8u32), (36, 4000), (40, 4), (648, 5), (667, 3)] {
        put(at, &number.to_le_bytes());
    }
    put(639, &[2]);
    let path: Vec<u8> =
        "C:\\mail\\Mailbox.edb\0\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    put(671, &[1]);
    put(673, &u16::try_from(path.len()).unwrap().to_le_bytes());
    put(671 + 64, &path);
    let words = bytes[4..4096].as_chunks::<4>().0.iter();
    let sum = words.fold(0x89AB_CDEF, |sum, word| sum ^ u32::from_le_bytes(*word));
    bytes[..4].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn a_database_header_says_how_it_was_made() {
    let scene = Scene::prepared("created");
    scene.run(["header", OWN]).expect_code(0).expect_out(&[
        "format                   0x620,20,0",
        "created in format        0x620,20",
        "engine version",
    ]);
    for packed in databases() {
        let scene = Scene::new("created-sample");
        unpack(&packed, &scene);
        let header = json(&scene, &["header", "--json", "sample.edb"]);
        assert_eq!(header["created_format"]["version"], 0x620);
        assert!(header["format"]["update_minor"].is_u64());
    }
}
