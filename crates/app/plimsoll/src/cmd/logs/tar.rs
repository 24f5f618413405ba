//! An archive in the ustar format, which every system can unpack. It records no owner and no time.

const BLOCK: usize = 512;

/// The bytes of the archive so far.
#[derive(Default)]
pub(super) struct Archive(Vec<u8>);

impl Archive {
    /// Adds a file; a name that is too long keeps its end.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) {
        let mut head = [0; BLOCK];
        let begin = name.char_indices().map(|(at, _)| at).find(|at| name.len() - at <= 99);
        put(&mut head, 0, &name[begin.unwrap_or(0)..]);
        for (at, field) in [(100, "0000644"), (108, "0000000"), (116, "0000000")] {
            put(&mut head, at, field);
        }
        put(&mut head, 124, &format!("{:011o}", bytes.len()));
        put(&mut head, 136, "00000000000");
        put(&mut head, 148, "        ");
        put(&mut head, 156, "0");
        put(&mut head, 257, "ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        put(&mut head, 148, &format!("{sum:06o}\0 "));
        self.0.extend_from_slice(&head);
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(BLOCK), 0);
    }

    /// The whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 2 * BLOCK, 0);
        self.0
    }
}

fn put(head: &mut [u8; BLOCK], at: usize, text: &str) {
    head[at..at + text.len()].copy_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::Archive;

    #[test]
    fn files_lie_in_whole_blocks_and_long_names_keep_their_end() {
        let mut archive = Archive::default();
        archive.add(&format!("{}/record.jsonl", "\u{e4}".repeat(90)), &[1; 513]);
        let bytes = archive.finish();
        assert_eq!(bytes.len(), 512 * (1 + 2 + 2));
        assert!(bytes[..100].windows(13).any(|name| name == b"/record.jsonl"));
    }
}
