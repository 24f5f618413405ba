//! The outer archive of a Debian package.

/// Builds an `ar` archive of `members`, in order; names have at most 16 characters.
pub(crate) fn archive(members: &[(&str, &[u8])], epoch: u64) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let head =
            format!("{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", content.len());
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::archive;

    #[test]
    fn members_begin_at_even_bytes_behind_heads_of_sixty() {
        let bytes = archive(&[("a", b"x"), ("b", b"yz")], 7);
        assert_eq!(bytes.len(), 8 + 60 + 2 + 60 + 2);
        assert_eq!(&bytes[8..10], b"a ");
        assert_eq!(&bytes[66..70], b"`\nx\n");
        assert!(bytes.ends_with(b"yz"));
    }
}
