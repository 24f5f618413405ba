//! Checks that this program's load matches the original's: published figures next to its own, in
//! virtual time with the latencies published with them, so that any machine prints the same table.

mod growth;
mod published;
mod scene;
mod table;

use crate::fidelity::published::CASES;
use crate::fidelity::table::BandTable;
use xtask::failure::Failure;

/// Runs every published case and prints its rows. Fails if one is out of its band.
pub(crate) fn run() -> Result<(), Failure> {
    let mut out = 0;
    for case in &CASES {
        let table = BandTable::new(case, &scene::play(case)?);
        print!("{table}");
        out += table.out();
    }
    match out {
        0 => Ok(()),
        out => Err(Failure::new(format!("{out} rows are out of their bands"))),
    }
}
