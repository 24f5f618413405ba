//! Encodes a canvas as PNG.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::canvas::Canvas;

const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
/// Eight bits per channel, RGB; the standard compression and filter method; no interlace.
const TRUE_COLOUR: [u8; 5] = [8, 2, 0, 0, 0];
/// The filter of a row: none.
const UNFILTERED: u8 = 0;

/// Encodes the canvas; an error if it exceeds the format's maximum size.
pub(super) fn encoded(canvas: &Canvas) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    for size in [canvas.width, canvas.height] {
        header.extend(u32::try_from(size).map_err(io::Error::other)?.to_be_bytes());
    }
    header.extend(TRUE_COLOUR);
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in canvas.pixels.chunks(canvas.width) {
        rows.write_all(&[UNFILTERED])?;
        rows.write_all(row.as_flattened())?;
    }
    let mut file = SIGNATURE.to_vec();
    push_chunk(&mut file, *b"IHDR", &header)?;
    push_chunk(&mut file, *b"IDAT", &rows.finish()?)?;
    push_chunk(&mut file, *b"IEND", &[])?;
    Ok(file)
}

fn push_chunk(file: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    let mut sum = flate2::Crc::new();
    sum.update(&kind);
    sum.update(content);
    file.extend(length.to_be_bytes());
    file.extend(kind);
    file.extend(content);
    file.extend(sum.sum().to_be_bytes());
    Ok(())
}
