//! The version resource of Windows programs, which holds the build of ExSetup.exe and ese.dll.

use crate::number::BuildNumber;

/// `VS_FIXEDFILEINFO`: its signature and structure version, in file byte order.
const FIXED_FILE_INFO: [u8; 8] = [0xBD, 0x04, 0xEF, 0xFE, 0x00, 0x00, 0x01, 0x00];

/// The file version of a Windows program or library, if it has one.
pub fn file_version(bytes: &[u8]) -> Option<BuildNumber> {
    if !bytes.starts_with(b"MZ") {
        return None;
    }
    let at = bytes.windows(FIXED_FILE_INFO.len()).position(|window| window == FIXED_FILE_INFO)?;
    let (fields, _) = bytes.get(at + FIXED_FILE_INFO.len()..)?.split_first_chunk::<8>()?;
    // Two four-byte words, each with the higher number in its upper half.
    let (halves, _) = fields.as_chunks::<2>();
    let [minor, major, revision, build] =
        std::array::from_fn(|at| u32::from(u16::from_le_bytes(halves[at])));
    Some(BuildNumber { major, minor, build, revision: Some(revision) })
}

#[cfg(test)]
mod tests {
    use super::{FIXED_FILE_INFO, file_version};

    #[test]
    fn the_halves_are_put_in_order() {
        let mut file = b"MZ and some code".to_vec();
        file.extend(FIXED_FILE_INFO);
        file.extend([1, 0, 15, 0, 7, 0, 0x47, 0x09]);
        let version = file_version(&file).unwrap();
        assert_eq!(version.to_string(), "15.1.2375.7");
        file.truncate(file.len() - 1);
        assert_eq!(file_version(&file), None);
        assert_eq!(file_version(b"MZ"), None);
        assert_eq!(file_version(&FIXED_FILE_INFO), None);
    }
}
