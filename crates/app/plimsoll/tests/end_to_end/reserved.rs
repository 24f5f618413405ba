//! Databases of later engines, which reserve more than one tag on each page.

use ese::page::{PageMut, PageRef};
use units::PageNumber;

use crate::scene::{PAGE_BYTES, Scene};

const FILE: &str = "Plimsoll001.edb";
/// Bytes of a tag and of a large page's header.
const TAG_BYTES: usize = 4;
const HEADER_BYTES: usize = 80;

fn field(page: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([page[at], page[at + 1]]))
}

fn set_field(page: &mut [u8], at: usize, number: usize) {
    page[at..at + 2].copy_from_slice(&u16::try_from(number).unwrap().to_le_bytes());
}

/// Moves the tags of all nodes down to make room for reserved ones without bytes. False if the page
/// was never written or has no room.
fn reserve(page: &mut [u8], reserved: usize) -> bool {
    let (free, used, tags) = (field(page, 28), field(page, 32), field(page, 34));
    let moved = (reserved - 1) * TAG_BYTES;
    if tags == 0 || HEADER_BYTES + used + tags * TAG_BYTES + moved > PAGE_BYTES || free < moved {
        return false;
    }
    let nodes = PAGE_BYTES - tags * TAG_BYTES..PAGE_BYTES - TAG_BYTES;
    page.copy_within(nodes.clone(), nodes.start - moved);
    page[nodes.end - moved..nodes.end].fill(0);
    set_field(page, 28, free - moved);
    set_field(page, 30, field(page, 30).min(free - moved));
    set_field(page, 34, (tags + reserved - 1) | (reserved << 12));
    true
}

#[test]
fn databases_with_several_reserved_tags_are_read_as_others() {
    let scene = Scene::prepared("reserved-tags");
    let words = ["export", FILE, "--table", "Messages", "--format", "jsonl"];
    let (rows, sound) = (scene.run(words), scene.read(FILE));
    rows.expect_code(0);
    for reserved in [2, 7] {
        let mut file = sound.clone();
        let mut changed = 0;
        for (index, page) in file.chunks_exact_mut(PAGE_BYTES).enumerate().skip(2) {
            if reserve(page, reserved) {
                let number = PageNumber(u32::try_from(index - 1).unwrap());
                PageMut::new(page).seal(number);
                changed += 1;
            }
        }
        assert!(changed > 100, "{changed}");
        scene.write(FILE, &file);
        let sealed = PageRef::new(&file[5 * PAGE_BYTES..6 * PAGE_BYTES]);
        assert_eq!(sealed.reserved_tags(), reserved, "the catalog's root");
        for verb in ["check", "verify", "space"] {
            scene.run([verb, FILE]).expect_code(0);
        }
        scene.run(["verify", FILE]).expect_out(&["0 problems", "0 messages are not"]);
        let again = scene.run(words);
        again.expect_code(0);
        assert!(again.out == rows.out, "{reserved} reserved");
        let count = format!("reserved tags    {reserved}");
        let ran = scene.run(["dump", FILE, "--page", "4"]);
        ran.expect_code(0).expect_out(&["state            good", &count]);
    }
}

/// A run changes such a database: pages keep their reserved tags, or are made anew without.
#[test]
fn a_run_leaves_a_database_with_reserved_tags_sound() {
    let scene = Scene::prepared("reserved-run");
    scene.change(FILE, |file| {
        for (index, page) in file.chunks_exact_mut(PAGE_BYTES).enumerate().skip(2) {
            if reserve(page, 3) {
                PageMut::new(page).seal(PageNumber(u32::try_from(index - 1).unwrap()));
            }
        }
    });
    let before = scene.read(FILE);
    let ran = scene.run(["run", "plan.toml", "-o", "out"]);
    assert!(!ran.err.contains("bug in plimsoll"), "{}", ran.err);
    for verb in ["check", "verify"] {
        scene.run([verb, FILE]).expect_code(0);
    }
    let kept = scene.read(FILE);
    let pages = kept.chunks_exact(PAGE_BYTES).zip(before.chunks_exact(PAGE_BYTES)).skip(2);
    let is_kept = |page: &[u8]| PageRef::new(page).reserved_tags() == 3;
    let changed = pages.filter(|(now, before)| now != before && is_kept(now)).count();
    assert!(changed > 10, "{changed} pages were changed");
}
