//! Pictures supplied by a vendor: PNG, whose size both forms of the paper need to know.

use std::fmt;

/// A picture, ready for either form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub(crate) bytes: Vec<u8>,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Why a file is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureError {
    /// It does not begin like a PNG.
    NotPng,
    /// It is a PNG with a width or height of zero.
    Empty,
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPng => write!(f, "is no PNG; save the picture as PNG"),
            Self::Empty => write!(f, "has no width or no height; save the picture again"),
        }
    }
}

impl std::error::Error for PictureError {}

/// Signature, length and type of the first chunk, which contains the size.
const BEGIN: &[u8; 16] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";

impl Picture {
    /// Reads a picture from the bytes of a PNG file.
    pub fn from_png(bytes: Vec<u8>) -> Result<Self, PictureError> {
        let rest = bytes.strip_prefix(BEGIN).ok_or(PictureError::NotPng)?;
        let (width, rest) = rest.split_first_chunk().ok_or(PictureError::NotPng)?;
        let (height, _) = rest.split_first_chunk().ok_or(PictureError::NotPng)?;
        let (width, height) = (u32::from_be_bytes(*width), u32::from_be_bytes(*height));
        if width == 0 || height == 0 {
            return Err(PictureError::Empty);
        }
        Ok(Self { bytes, width, height })
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, Picture, PictureError};

    #[test]
    fn a_png_tells_its_size_and_nothing_else_is_one() {
        let mut bytes = BEGIN.to_vec();
        assert_eq!(Picture::from_png(bytes.clone()), Err(PictureError::NotPng));
        bytes.extend([0, 0, 1, 0, 0, 0, 0, 64]);
        let picture = Picture::from_png(bytes.clone());
        assert_eq!(picture.map(|of| (of.width, of.height)), Ok((256, 64)));
        bytes[18] = 0;
        assert_eq!(Picture::from_png(bytes), Err(PictureError::Empty));
        assert_eq!(Picture::from_png(b"GIF89a".to_vec()), Err(PictureError::NotPng));
    }
}
