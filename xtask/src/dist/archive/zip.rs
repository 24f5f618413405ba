//! Zip files, including Python wheels.

use xtask::failure::Failure;

use super::gzip::deflate;
use crate::dist::tree::{Content, Tree};

/// The earliest day that a zip file can represent, 1 January 1980, encoded in its two fields.
const DATE: u16 = 0x0021;

/// Version made by: Unix, so that readers apply file modes.
const MADE_BY: u16 = 3 << 8 | 0x14;

const DEFLATED: u16 = 8;

/// Archives the files of the tree; their names imply the folders.
pub(crate) fn archive(tree: &Tree) -> Result<Vec<u8>, Failure> {
    let (mut bytes, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    for (path, item) in tree.items() {
        let Content::File(content) = &item.content else { continue };
        let deflated = deflate(content)?;
        let offset = narrow(bytes.len())?;
        let mut shared = Vec::new();
        for field in [20, 0, DEFLATED, 0, DATE] {
            shared.extend_from_slice(&u16::to_le_bytes(field));
        }
        for field in [deflated.crc32, narrow(deflated.stream.len())?, narrow(content.len())?] {
            shared.extend_from_slice(&u32::to_le_bytes(field));
        }
        shared.extend_from_slice(&short(path.len())?.to_le_bytes());
        shared.extend_from_slice(&0_u16.to_le_bytes());
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend_from_slice(&shared);
        bytes.extend_from_slice(path.as_bytes());
        bytes.extend_from_slice(&deflated.stream);
        directory.extend_from_slice(b"PK\x01\x02");
        directory.extend_from_slice(&MADE_BY.to_le_bytes());
        directory.extend_from_slice(&shared);
        directory.extend_from_slice(&[0; 6]);
        directory.extend_from_slice(&((0o100_000 | item.mode) << 16).to_le_bytes());
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(path.as_bytes());
        count += 1;
    }
    let (begin, length) = (narrow(bytes.len())?, narrow(directory.len())?);
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    bytes.extend_from_slice(&[count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend_from_slice(&[length.to_le_bytes(), begin.to_le_bytes()].concat());
    bytes.extend_from_slice(&[0; 2]);
    Ok(bytes)
}

fn narrow(length: usize) -> Result<u32, Failure> {
    u32::try_from(length).map_err(|_| Failure::new("a zip file ends at 4 GiB"))
}

fn short(length: usize) -> Result<u16, Failure> {
    u16::try_from(length).map_err(|_| Failure::new("a name in a zip file ends at 64 KiB"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::archive;
    use crate::dist::tree::Tree;
    use xtask::shell;

    #[test]
    fn python_reads_names_modes_and_content() {
        let mut tree = Tree::default();
        tree.file("plimsoll/program", 0o755, b"bytes ".repeat(999));
        tree.file("empty", 0o644, Vec::new());
        let folder = shell::root().join("target/dist-tests/zip");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.zip");
        fs::write(&file, archive(&tree).unwrap()).unwrap();
        let script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip()); \
                      [print(i.filename, oct(i.external_attr >> 16), i.file_size) \
                      for i in z.infolist()]";
        let said = shell::capture(&["python3", "-c", script, &file.display().to_string()]).unwrap();
        assert_eq!(said, "None\nempty 0o100644 0\nplimsoll/program 0o100755 5994\n");
    }
}
