//! Compares this program's load with the original's published figures. The load runs in virtual
//! time with the latencies published with those figures, so any machine prints the same table.

mod growth;
mod published;
mod scene;
mod table;

use crate::fidelity::published::CASES;
use crate::fidelity::table::BandTable;
use xtask::failure::Failure;

/// Runs every published case and prints its rows. Fails if a figure is out of its band.
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
