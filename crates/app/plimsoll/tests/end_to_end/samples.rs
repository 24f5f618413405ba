//! Files of real engines, with bits flipped where chance has it: each is located by the program.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use testkit::samples::{self, databases};
use units::{Prng, Seed};

use crate::scene::Scene;

/// A flipped bit, and what must be said of it.
struct Flip {
    offset: u64,
    bit: u64,
    page_bytes: u64,
}

impl Flip {
    /// Anywhere below `end`.
    fn drawn(random: &mut Prng, end: u64, page_bytes: u64) -> Self {
        Self { offset: random.below(end), bit: random.below(8), page_bytes }
    }

    fn expected(&self) -> [String; 2] {
        let byte = self.offset % self.page_bytes;
        let page = match self.offset / self.page_bytes {
            0 => "the first copy of the header is damaged".to_owned(),
            1 => "the second copy of the header is damaged".to_owned(),
            after => format!("page {}: ", after - 1),
        };
        [page, format!("byte {byte} bit {}", self.bit)]
    }

    /// Turns the bit; a second time, turns it back.
    fn turn(&self, file: &File) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, self.offset).unwrap();
        byte[0] ^= 1 << self.bit;
        file.write_all_at(&byte, self.offset).unwrap();
    }
}

pub(crate) fn unpack(packed: &Path, scene: &Scene) {
    scene.write("sample.edb", &samples::unpacked(packed).unwrap());
}

#[test]
fn flips_in_files_of_real_engines_are_located() {
    let mut random = Prng::new(Seed(1_911));
    for packed in databases() {
        let scene = Scene::new("sample");
        unpack(&packed, &scene);
        let sound = scene.run(["check", "--json", "sample.edb"]);
        sound.expect_code(0);
        let answer: serde_json::Value = serde_json::from_str(&sound.out).unwrap();
        let page_bytes = answer["files"][0]["page_size_bytes"].as_u64().unwrap();
        let path = scene.path("sample.edb");
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let all = file.metadata().unwrap().len();
        let ends = [[2 * page_bytes; 2].as_slice(), &[all; 10]].concat();
        for end in ends {
            let flip = Flip::drawn(&mut random, end, page_bytes);
            flip.turn(&file);
            let ran = scene.run(["check", "sample.edb"]);
            ran.expect_code(1);
            let named = |line: &str| flip.expected().iter().all(|part| line.contains(part));
            assert!(ran.unfolded().lines().any(named), "{:?}: {}", packed, ran.out);
            flip.turn(&file);
        }
    }
}
