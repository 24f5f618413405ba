//! Kinds of memory for fio's buffers, to separate the effect of huge pages from the cost of the
//! program.

/// Memory for fio's buffers. This program's buffers are in huge pages automatically; fio's need
/// huge pages that the administrator has reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FioMemory {
    /// fio's default: `malloc`, ordinary pages.
    Plain,
    /// `--iomem=mmaphuge`: the remaining difference is the program's, not the memory's.
    HugePages,
}

impl FioMemory {
    /// All kinds, fio's default first.
    pub(crate) const ALL: [Self; 2] = [Self::Plain, Self::HugePages];

    /// Name in the bench's output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "fio",
            Self::HugePages => "fio in huge pages",
        }
    }

    /// fio's arguments for this kind of memory.
    pub(crate) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &[],
            Self::HugePages => &["--iomem=mmaphuge"],
        }
    }

    /// Whether fio can run with this memory; prints a message if not.
    pub(crate) fn is_possible(self) -> bool {
        let is_possible = self == Self::Plain || has_huge_pages(&meminfo());
        if !is_possible {
            println!(
                "fio in huge pages: skipped, none are reserved; `sysctl vm.nr_hugepages=16` does it"
            );
        }
        is_possible
    }
}

fn meminfo() -> String {
    std::fs::read_to_string("/proc/meminfo").unwrap_or_default()
}

/// Whether enough huge pages are free for the buffers of the greatest depth.
fn has_huge_pages(meminfo: &str) -> bool {
    let free = meminfo.lines().find_map(|line| line.strip_prefix("HugePages_Free:"));
    free.and_then(|count| count.trim().parse().ok()).is_some_and(|count: u64| count >= 2)
}

#[cfg(test)]
mod tests {
    use super::has_huge_pages;

    #[test]
    fn reserved_huge_pages_are_read_from_meminfo() {
        assert!(has_huge_pages("HugePages_Total:  16\nHugePages_Free:   16\n"));
        assert!(!has_huge_pages("HugePages_Total:  16\nHugePages_Free:    1\n"));
        assert!(!has_huge_pages("MemFree:  16\n"));
    }
}
