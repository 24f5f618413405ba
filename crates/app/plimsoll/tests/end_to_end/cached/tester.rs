//! The integrity test of nbd-tester-client, from the sources of the reference implementation.
//! `cargo xtask prove cache-tester` builds it and names its folder here.

use std::path::Path;

use super::{Served, peer, scene};

/// Environment variable with the folder of the built tester.
const FOLDER: &str = "PLIMSOLL_NBD_TESTER";

#[test]
fn the_reference_testers_transactions_come_back_as_written() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        eprintln!("skipped: {FOLDER} is not set; run cargo xtask prove cache-tester");
        return;
    };
    let folder = Path::new(&folder);
    let path = |name: &str| folder.join(name).display().to_string();
    let tester = path("nbd-tester-client");
    for trace in ["integrity-test.tr", "integrityhuge-test.tr"] {
        let scene = scene("cache-tester");
        // The first reads of the transactions expect zeros.
        scene.write("disk.img", &vec![0; usize::try_from(super::VOLUME_BYTES).unwrap()]);
        let served = Served::start(&scene);
        let socket = scene.path("nbd.sock").display().to_string();
        let trace = path(&format!("tests/run/{trace}"));
        let words = [tester.as_str(), "-N", "mail", "-u", &socket, "-i", "-t", &trace];
        let ran = peer(&scene, &words).unwrap();
        assert_eq!(ran.code, Some(0), "{trace}: {}{}", ran.out, ran.err);
        assert_eq!(served.stop(), 0);
        scene.run(["cache", "check", "flash.img"]).expect_code(0);
    }
}
