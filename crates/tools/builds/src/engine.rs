//! Identifies the engine that wrote a database file from the file's format version.
//!
//! The header of a database holds no Exchange build, only its format version, so the answer is a
//! range of products. Formats follow libesedb's documentation of the file format and the version
//! ladder in the engine's published source.

const KIB: usize = 1 << 10;

/// The engines that write `version`,`update` with pages of `page_bytes`; `None` if unknown.
pub fn engine_of(version: u32, update: u32, page_bytes: usize) -> Option<&'static str> {
    if version != 0x620 {
        return None;
    }
    // Mailboxes use pages of 4 KiB up to Exchange 2003, 8 KiB in 2007, 32 KiB since 2010.
    Some(match (update, page_bytes / KIB) {
        (9, _) => "Windows XP and Windows Server 2003",
        (11, 4) => "Exchange Server 2003",
        (11 | 12, 8) => "Exchange Server 2007 or Windows Vista",
        (12, _) => "Windows Vista",
        (17, 32) => "Exchange Server 2010 or Windows 7",
        (17, _) => "Windows 7",
        (20, 32) => "Exchange Server 2013 or 2016, or Windows 8 to 10 (1511)",
        (20, _) => "Windows 8 to 10 (1511), or its server",
        (110, _) => "Windows 10",
        (200.., _) => "Windows 11, or its server",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::engine_of;

    #[test]
    fn the_page_size_tells_mailboxes_from_other_databases() {
        let mailbox = engine_of(0x620, 20, 32 << 10).unwrap();
        assert!(mailbox.contains("Exchange Server 2013"));
        assert!(!engine_of(0x620, 20, 4 << 10).unwrap().contains("Exchange"));
        assert!(engine_of(0x620, 12, 8 << 10).unwrap().contains("2007"));
        assert_eq!(engine_of(0x620, 13, 8 << 10), None);
        assert_eq!(engine_of(0x623, 0, 4 << 10), None);
    }
}
