//! The damage table: every kind of damage that a device can do to a page, injected thousands of
//! times into the real writes of a running database, and the findings of `check`.
//!
//! The engine fills a database and works on it. Each page write is repeated on a copy of the file
//! from before the write: with a bit flipped, to another place, not at all, torn, and finally
//! intact. After each of these the code of `check` judges the pages concerned, with a flush map
//! that knows which writes the device acknowledged.

mod bench;
mod expected;
mod life;
mod recorder;
mod table;

use ese::header::CopyState;
use ese::page_state::PageDamage;
use faults::Effect;
use integrity::Damage;
use units::{PageNumber, Seed};

use bench::Bench;
use expected::{ExpectedPage, expected, single_bits};
use life::Life;
pub use table::{Count, DamageTable};
use table::{DamageKind, Judgement};

/// Options of a damage test.
#[derive(Clone, Copy, Debug)]
pub struct DamageOptions {
    /// Seed of the database's work and of the damage.
    pub seed: Seed,
    /// Number of injections of each kind.
    pub times: u64,
}

/// A page that the engine has written.
struct PageWrite {
    page: PageNumber,
    old: Vec<u8>,
    new: Vec<u8>,
    seed: Seed,
}

/// Injects all kinds of damage. Errors come from the engine or the device below it; findings are in
/// the table.
pub fn run(options: &DamageOptions) -> Result<DamageTable, String> {
    let (mut life, image) = Life::begin(options.seed)?;
    let mut bench = Bench::new(&image, life::FILE)?;
    let mut table = DamageTable::default();
    loop {
        for (page, new) in life.work()? {
            if table.sound == options.times {
                return Ok(table);
            }
            let write = PageWrite {
                page,
                old: bench.pristine(page),
                new,
                seed: options.seed.derive(table.sound),
            };
            flip(&mut bench, &write, &mut table);
            misdirect(&mut bench, &write, &mut table);
            lose(&mut bench, &write, &mut table);
            tear(&mut bench, &write, &mut table);
            bench.write(page, &write.new);
            table.sound += 1;
            if let Some(damage) = bench.judge(page) {
                table.false_alarm(page, &damage);
            }
        }
    }
}

fn flip(bench: &mut Bench, write: &PageWrite, table: &mut DamageTable) {
    bench.write_badly(write.page, &write.new, (Effect::FlipBits(1), write.seed));
    let stored = bench.read(write.page);
    let flipped = single_bits(&stored, &write.new).unwrap_or_default();
    let damage = bench.judge(write.page);
    let found = match &damage {
        Some(Damage::Page(PageDamage::FlippedBit { bits })) => Some(bits.clone()),
        Some(Damage::Page(PageDamage::FlippedChecksum { bit })) => Some(vec![*bit]),
        _ => None,
    };
    let judgement = Judgement {
        detected: damage.is_some(),
        named: found.is_some(),
        located: found.as_ref() == Some(&flipped),
    };
    table.note(DamageKind::Flipped, judgement, || {
        format!("page {}: bits {flipped:?}: {damage:?}", write.page)
    });
    bench.restore(write.page);
}

fn misdirect(bench: &mut Bench, write: &PageWrite, table: &mut DamageTable) {
    let PageWrite { page, new, .. } = write;
    let injection = bench.write_badly(*page, new, (Effect::MisdirectWrite, write.seed));
    let landed = injection.and_then(|injection| injection.landed);
    let landed = landed.expect("invariant: the file has other pages");
    let (there, is_named) = if let Some(place) = bench.page_at(landed) {
        let there = bench.judge(place);
        let is_named = there == Some(Damage::Page(PageDamage::WrongNumber { really: *page }));
        (there.map(|damage| damage.to_string()), is_named)
    } else {
        let state = bench.header_copy(landed);
        let there = (state != CopyState::Good).then(|| format!("{state:?}"));
        (there, state == CopyState::HoldsPage(*page))
    };
    let here = bench.judge(*page);
    let is_detected = there.is_some() && here.is_some();
    let judgement = Judgement {
        detected: is_detected,
        named: is_named && matches!(here, Some(Damage::Page(PageDamage::LostFlush { .. }))),
        located: is_detected,
    };
    table.note(DamageKind::Misdirected, judgement, || {
        format!("page {page} to byte {landed}: there {there:?}, here {here:?}")
    });
    bench.restore_at(landed);
    bench.restore(*page);
}

fn lose(bench: &mut Bench, write: &PageWrite, table: &mut DamageTable) {
    bench.write_badly(write.page, &write.new, (Effect::LoseWrite, write.seed));
    let damage = bench.judge(write.page);
    let judgement = Judgement {
        detected: damage.is_some(),
        named: matches!(damage, Some(Damage::Page(PageDamage::LostFlush { .. }))),
        located: damage.is_some(),
    };
    table.note(DamageKind::Lost, judgement, || format!("page {}: {damage:?}", write.page));
}

/// Tears the write until a tear causes damage. A tear is harmless if the unwritten sectors are the
/// same in both pages.
fn tear(bench: &mut Bench, write: &PageWrite, table: &mut DamageTable) {
    for attempt in 0.. {
        let seed = write.seed.derive(attempt);
        bench.write_badly(write.page, &write.new, (Effect::TearWrite, seed));
        let stored = bench.read(write.page);
        let expected = expected(&write.old, &write.new, &stored);
        let damage = bench.judge(write.page);
        bench.restore(write.page);
        match &expected {
            ExpectedPage::NoDamage => {
                table.torn_whole += 1;
                if let Some(damage) = damage {
                    table.false_alarm(write.page, &damage);
                }
                continue;
            }
            ExpectedPage::LostFlush => table.torn_lost += 1,
            ExpectedPage::FlippedBits(_) => table.torn_bits += 1,
            ExpectedPage::Torn => {}
        }
        let judgement = Judgement {
            detected: damage.is_some(),
            named: damage.as_ref().is_some_and(|damage| expected.is(damage)),
            located: damage.is_some(),
        };
        table.note(DamageKind::Torn, judgement, || {
            format!("page {}: {expected:?}: {damage:?}", write.page)
        });
        return;
    }
}
