//! Cache policies in the words of LSI's tools: the codes of storcli, `RWBD` and `NR,WB`, and the
//! phrases of `MegaCli`.

use super::facts::WritePolicy;
use super::lines::evened;

/// A code such as `NRWBD` or `NR,WB`: read-ahead (R, NR), write policy (WB, AWB or FWB, WT), and
/// whether reads are cached (C) or direct (D).
pub(super) fn code(code: &str) -> (Option<WritePolicy>, Option<bool>) {
    let code = code.replace(',', "");
    let (reads_ahead, rest) = match (code.strip_prefix("NR"), code.strip_prefix('R')) {
        (Some(rest), _) => (Some(false), rest),
        (None, Some(rest)) => (Some(true), rest),
        (None, None) => (None, code.as_str()),
    };
    let writes = [
        ("AWB", WritePolicy::BackAlways),
        ("FWB", WritePolicy::BackAlways),
        ("WB", WritePolicy::Back),
        ("WT", WritePolicy::Through),
    ];
    let found =
        writes.into_iter().find_map(|(word, policy)| Some((rest.strip_prefix(word)?, policy)));
    match found {
        Some(("" | "D" | "C", policy)) => (Some(policy), reads_ahead),
        _ => (None, reads_ahead),
    }
}

/// A policy such as `WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU`. It yields a
/// write policy only if it has the phrase about a bad battery too.
pub(super) fn phrase(words: &str) -> (Option<WritePolicy>, Option<bool>) {
    let small = evened(words);
    let no_reads = ["readaheadnone", "noreadahead", "no read ahead", "readahead none", "normal"];
    let reads = ["readahead", "read ahead", "readadaptive", "adaptive", "readaheadadaptive"];
    let parts: Vec<&str> = small.split(',').map(str::trim).collect();
    let with_bad_battery = match (
        parts.contains(&"no write cache if bad bbu"),
        parts.contains(&"write cache ok if bad bbu"),
    ) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    };
    let writes =
        match (parts.contains(&"writeback"), parts.contains(&"writethrough"), with_bad_battery) {
            (false, true, _) => Some(WritePolicy::Through),
            (true, false, Some(true)) => Some(WritePolicy::BackAlways),
            (true, false, Some(false)) => Some(WritePolicy::Back),
            _ if parts.contains(&"always writeback") || parts.contains(&"force writeback") => {
                Some(WritePolicy::BackAlways)
            }
            _ => None,
        };
    let reads_ahead = match (
        no_reads.iter().any(|part| parts.contains(part)),
        reads.iter().any(|part| parts.contains(part)),
    ) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    };
    (writes, reads_ahead)
}

#[cfg(test)]
mod tests {
    use super::{WritePolicy, code, phrase};

    #[test]
    fn codes_of_caches_are_taken_apart() {
        use WritePolicy::{Back, BackAlways, Through};
        for (text, policy) in [
            ("RWBD", (Some(Back), Some(true))),
            ("NRWBD", (Some(Back), Some(false))),
            ("RAWBD", (Some(BackAlways), Some(true))),
            ("NRAWBC", (Some(BackAlways), Some(false))),
            ("RFWBD", (Some(BackAlways), Some(true))),
            ("NR,AWB", (Some(BackAlways), Some(false))),
            ("RWTD", (Some(Through), Some(true))),
            ("NR,WT", (Some(Through), Some(false))),
            ("RWBX", (None, Some(true))),
            ("-", (None, None)),
            ("", (None, None)),
        ] {
            assert_eq!(code(text), policy, "{text}");
        }
    }

    #[test]
    fn phrases_of_megacli_need_the_word_about_a_bad_battery() {
        use WritePolicy::{Back, BackAlways, Through};
        for (text, policy) in [
            (
                "WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU",
                (Some(Back), Some(false)),
            ),
            (
                "WriteBack, ReadAdaptive, Direct, Write Cache OK if Bad BBU",
                (Some(BackAlways), Some(true)),
            ),
            (
                "WriteThrough, ReadAhead, Cached, No Write Cache if Bad BBU",
                (Some(Through), Some(true)),
            ),
            ("WriteBack, ReadAheadNone, Direct", (None, Some(false))),
            ("WriteBack, WriteThrough", (None, None)),
        ] {
            assert_eq!(phrase(text), policy, "{text}");
        }
    }
}
