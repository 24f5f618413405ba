//! Flags of `cache size`.

use std::path::PathBuf;

use clap::Args;
use units::Bytes;

use crate::args::size;

/// Flags of `cache size`.
#[derive(Args, Debug)]
pub(crate) struct CacheSizeFlags {
    /// Text of blkparse, fio iolog of version 2 or 3, or CSV lines of time, op, offset, length
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// Cache size to evaluate; may be given several times [default: shares of what the trace
    /// touches]
    #[arg(long = "size", value_name = "SIZE", value_parser = size)]
    pub sizes: Vec<Bytes>,
    /// Block of the cache: a power of two from 4KiB to 1MiB
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = block)]
    pub block: Bytes,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
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
