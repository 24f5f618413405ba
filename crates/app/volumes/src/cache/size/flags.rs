//! Flags of `cache size`.

use std::path::PathBuf;

use clap::Args;
use units::Bytes;

use console::args::{size, values};

/// Flags of `cache size`.
#[derive(Args, Debug)]
pub(crate) struct CacheSizeFlags {
    /// Plan whose load is simulated on --array, without and with caches
    #[arg(value_name = "PLAN", required_unless_present = "trace", requires = "array")]
    pub(crate) plan: Option<PathBuf>,
    /// Array file, or the name of a built-in array such as shelf-sata; an unknown name lists them
    #[arg(long, value_name = "FILE|NAME", value_parser = values::ARRAYS,
        hide_possible_values = true, requires = "plan")]
    pub(crate) array: Option<String>,
    /// Text of blkparse, fio iolog of version 2 or 3, or CSV lines of time, op, offset, length
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "array"])]
    pub(crate) trace: Option<PathBuf>,
    /// Cache size to evaluate; may be given several times [default: shares of the databases, or of
    /// the data that the trace touches]
    #[arg(long = "size", value_name = "SIZE", value_parser = size)]
    pub(crate) sizes: Vec<Bytes>,
    /// Block of the cache: a power of two from 4KiB to 1MiB
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = block)]
    pub(crate) block: Bytes,
    /// Pause of the simulated sessions after each batch, as a percentage of the batch's duration;
    /// 100 matches published Jetstress 2010 runs
    #[arg(long, value_name = "PERCENT", default_value_t = 0, conflicts_with = "trace",
        value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) rest: u32,
    /// Keep the reports of the simulations in this new folder
    #[arg(long, short, value_name = "DIR", conflicts_with = "trace")]
    pub(crate) output: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Bytes of a block.
fn block(text: &str) -> Result<Bytes, String> {
    let block = size(text)?;
    let is_sound = block.0.is_power_of_two() && (4 << 10..=1 << 20).contains(&block.0);
    is_sound.then_some(block).ok_or_else(|| "give a power of two from 4KiB to 1MiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::block;

    #[test]
    fn blocks_are_powers_of_two_within_bounds() {
        assert!(block("4KiB").is_ok() && block("1MiB").is_ok());
        for wrong in ["0", "2KiB", "48KiB", "2MiB", "x"] {
            assert!(block(wrong).is_err(), "{wrong}");
        }
    }
}
