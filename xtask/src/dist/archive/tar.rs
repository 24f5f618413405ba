//! Tar archives in the ustar format, which every unpacker reads.

use xtask::failure::Failure;

use crate::dist::tree::{Content, Item, Tree};

const BLOCK: usize = 512;

/// Maximum length of a name in the first of the header's two fields.
const NAME: usize = 100;

/// Archives the whole tree below `prefix`, such as `./`; every file has the time `epoch`.
pub(crate) fn archive(tree: &Tree, prefix: &str, epoch: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    for (path, item) in tree.items() {
        bytes.extend_from_slice(&head(&format!("{prefix}{path}"), item, epoch)?);
        if let Content::File(content) = &item.content {
            bytes.extend_from_slice(content);
            bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        }
    }
    bytes.resize(bytes.len() + 2 * BLOCK, 0);
    Ok(bytes)
}

fn head(path: &str, item: &Item, epoch: u64) -> Result<[u8; BLOCK], Failure> {
    let mut head = [0; BLOCK];
    let (kind, length, name) = match &item.content {
        Content::File(bytes) => (b'0', bytes.len(), path.to_owned()),
        Content::Folder => (b'5', 0, format!("{path}/")),
    };
    let (prefix, name) = split(&name)?;
    put(&mut head, 0, name.as_bytes());
    put(&mut head, 100, format!("{:07o}", item.mode).as_bytes());
    put(&mut head, 108, format!("{:07o}", item.owner).as_bytes());
    put(&mut head, 116, format!("{:07o}", item.owner).as_bytes());
    put(&mut head, 124, format!("{length:011o}").as_bytes());
    put(&mut head, 136, format!("{epoch:011o}").as_bytes());
    put(&mut head, 148, b"        ");
    head[156] = kind;
    put(&mut head, 257, b"ustar\x0000");
    if item.owner == 0 {
        put(&mut head, 265, b"root");
        put(&mut head, 297, b"root");
    }
    put(&mut head, 345, prefix.as_bytes());
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    put(&mut head, 148, format!("{sum:06o}\0 ").as_bytes());
    Ok(head)
}

/// Splits a path into the header's two name fields.
fn split(path: &str) -> Result<(&str, &str), Failure> {
    if path.len() <= NAME {
        return Ok(("", path));
    }
    let at = path.len() - NAME - 1;
    let slash = path[at..].find('/').map(|found| at + found).filter(|at| *at <= 155);
    let slash =
        slash.ok_or_else(|| Failure::new(format!("{path} is too long for an archive of tar")))?;
    Ok((&path[..slash], &path[slash + 1..]))
}

fn put(head: &mut [u8; BLOCK], at: usize, bytes: &[u8]) {
    head[at..at + bytes.len()].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::archive;
    use crate::dist::archive::gzip::piped;
    use crate::dist::tree::Tree;

    #[test]
    fn what_tar_lists_is_what_was_put_in_sorted_and_dated() {
        let deep = format!("usr/{}/file", "d".repeat(95));
        let mut tree = Tree::default();
        tree.file("b", 0o644, b"two".to_vec());
        tree.file("a/program", 0o755, vec![7; 1000]);
        tree.file(&deep, 0o644, Vec::new());
        let bytes = archive(&tree, "./", 86_400).unwrap();
        assert_eq!(bytes.len() % 512, 0);
        let listing =
            piped(&["tar", "--utc", "--full-time", "--numeric-owner", "-tvf", "-"], &bytes);
        let listing = String::from_utf8(listing.unwrap()).unwrap();
        let lines: Vec<Vec<&str>> =
            listing.lines().map(|line| line.split_whitespace().collect()).collect();
        let names: Vec<&str> = lines.iter().map(|line| line[5]).collect();
        let folder = format!("./usr/{}/", "d".repeat(95));
        let deep = format!("./{deep}");
        assert_eq!(names, ["./a/", "./a/program", "./b", "./usr/", &folder, &deep]);
        assert_eq!(lines[1][..5], ["-rwxr-xr-x", "0/0", "1000", "1970-01-02", "00:00:00"]);
    }

    #[test]
    fn a_name_that_no_head_holds_is_refused() {
        let mut tree = Tree::default();
        tree.file(&"x".repeat(101), 0o644, Vec::new());
        assert!(archive(&tree, "", 0).unwrap_err().to_string().contains("too long"));
    }
}
