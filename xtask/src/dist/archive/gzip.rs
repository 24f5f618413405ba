//! Compression by the system's gzip, which with `-n` stores neither name nor time.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;

use xtask::failure::Failure;
use xtask::shell;

/// Bytes of a gzip header without a name.
const HEAD: usize = 10;

/// Bytes after the stream: checksum and length.
const TAIL: usize = 8;

/// A deflate stream with the checksum of its contents.
pub(crate) struct Deflated {
    pub stream: Vec<u8>,
    pub crc32: u32,
}

/// Compresses a whole archive with gzip. The last percent would take three times as long.
pub(crate) fn pack(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    piped(&["gzip", "-6", "-n", "-c"], bytes)
}

/// Compresses `bytes` with gzip to the smallest size.
pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    piped(&["gzip", "-9", "-n", "-c"], bytes)
}

/// Compresses `bytes` to a raw deflate stream, as in zip files.
pub(crate) fn deflate(bytes: &[u8]) -> Result<Deflated, Failure> {
    let whole = pack(bytes)?;
    let end = whole.len().checked_sub(TAIL).filter(|end| *end >= HEAD);
    let end = end.ok_or_else(|| Failure::new("gzip wrote no stream"))?;
    let crc32 = whole[end..end + 4].iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    Ok(Deflated { stream: whole[HEAD..end].to_vec(), crc32 })
}

/// Returns a program's output for `bytes` on its standard input.
pub(crate) fn piped(words: &[&str], bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut command = shell::command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let failed = |error| Failure::new(format!("`{}`: {error}", words.join(" ")));
    let mut child = command.spawn().map_err(failed)?;
    let mut input = child.stdin.take();
    let output = thread::scope(|scope| {
        // If the reader exits early, its exit status shows it.
        scope.spawn(move || input.as_mut().map(|input| input.write_all(bytes)));
        child.wait_with_output()
    });
    let output = output.map_err(failed)?;
    if !output.status.success() {
        return Err(Failure::new(format!("`{}` failed", words.join(" "))));
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::{compress, deflate};

    #[test]
    fn the_same_bytes_give_the_same_file_and_the_checksum_is_that_of_zip() {
        let bytes = b"123456789".repeat(1000);
        assert!(compress(&bytes).unwrap() == compress(&bytes).unwrap());
        assert_eq!(deflate(b"123456789").unwrap().crc32, 0xCBF4_3926);
    }
}
