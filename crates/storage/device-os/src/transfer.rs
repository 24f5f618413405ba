//! Decides how a short transfer continues, the same for every backend.

/// Next step after a call transferred `last` bytes, making `moved` of `wanted` in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Everything has been moved.
    Whole,
    /// Move the rest.
    Again,
    /// The file ends here: the call moved nothing, or stopped inside a block.
    End,
}

/// See [`Progress`].
pub(crate) const fn progress(wanted: usize, moved: usize, last: usize) -> Progress {
    if moved == wanted {
        Progress::Whole
    } else if last == 0 || !moved.is_multiple_of(device::SECTOR) {
        Progress::End
    } else {
        Progress::Again
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, progress};

    #[test]
    fn transfers_go_on_until_whole_or_at_the_end() {
        assert_eq!(progress(8_192, 8_192, 4_096), Progress::Whole);
        assert_eq!(progress(8_192, 4_096, 4_096), Progress::Again);
        assert_eq!(progress(8_192, 4_096, 0), Progress::End);
        assert_eq!(progress(8_192, 5_000, 904), Progress::End);
    }
}
