//! Judging pages block by block, as a checksum scan reads them.
//!
//! Whoever reads the file decides how; a [`Tally`] takes what was read and keeps the counts.
//! Several tallies of one file add up.

use std::fmt;

use units::PageNumber;

use crate::checksum::{PageVerdict, verify};
use crate::page::{PageRef, PageSize};
use crate::page_check::{self, PageFault};
use crate::space::ExtentSet;

/// More findings than this are counted and not listed.
const MOST_FINDINGS: usize = 10_000;

/// What is wrong with one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// The checksum is wrong by one bit, which can be put right.
    Correctable {
        /// The flipped bits, counted from the beginning of the page.
        bits: Vec<u32>,
    },
    /// The page is intact and belongs elsewhere.
    WrongPage {
        /// Where it belongs.
        really: PageNumber,
    },
    /// The checksum is wrong.
    Checksum {
        /// What is stored.
        stored: u64,
        /// What it should be.
        computed: u64,
    },
    /// The checksum is right and the page is not.
    Fault(PageFault),
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Correctable { bits } => write!(f, "flipped bit {bits:?}, correctable"),
            Self::WrongPage { really } => write!(f, "holds page {really}: a misdirected write"),
            Self::Checksum { stored, computed } => {
                write!(f, "checksum is {stored:#018x}, should be {computed:#018x}")
            }
            Self::Fault(fault) => write!(f, "checksum is right, but {fault}"),
        }
    }
}

/// A page and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The page.
    pub page: PageNumber,
    /// What is wrong with it.
    pub complaint: Complaint,
}

/// Counts of pages by what they are worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All pages looked at.
    pub seen: u64,
    /// Pages as they were written.
    pub good: u64,
    /// Pages never written: normal where nobody uses them.
    pub uninitialised: u64,
    /// Pages with a flipped bit that can be put right.
    pub correctable: u64,
    /// Pages that belong elsewhere.
    pub wrong_page: u64,
    /// Pages whose checksum is wrong beyond repair.
    pub bad: u64,
    /// Pages whose checksum is right and which contradict themselves.
    pub faulty: u64,
    /// Pages beyond the space that the database owns; nobody judges them.
    pub foreign: u64,
    /// What is wrong, up to the first 10,000 pages.
    pub findings: Vec<Finding>,
}

impl Tally {
    /// Judges a run of pages that begins with page `first`. `owned` are the pages of the
    /// database, where known.
    pub fn add_block(
        &mut self,
        first: PageNumber,
        block: &[u8],
        page_size: PageSize,
        owned: Option<&ExtentSet>,
    ) {
        for (number, page) in (first.0..)
            .map(PageNumber)
            .zip(block.chunks_exact(page_size.bytes()))
        {
            self.seen += 1;
            if owned.is_some_and(|owned| !owned.contains(number)) {
                self.foreign += 1;
            } else {
                self.judge(number, page);
            }
        }
    }

    /// Pages that must not be trusted.
    pub const fn damaged(&self) -> u64 {
        self.correctable + self.wrong_page + self.bad + self.faulty
    }

    /// Adds what another part of the file gave.
    pub fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.good += other.good;
        self.uninitialised += other.uninitialised;
        self.correctable += other.correctable;
        self.wrong_page += other.wrong_page;
        self.bad += other.bad;
        self.faulty += other.faulty;
        self.foreign += other.foreign;
        self.findings.extend(other.findings);
        self.findings.truncate(MOST_FINDINGS);
    }

    fn judge(&mut self, number: PageNumber, page: &[u8]) {
        let complaint = match verify(page, number) {
            PageVerdict::Good => match page_check::check(PageRef::new(page), number) {
                Ok(()) => {
                    self.good += 1;
                    return;
                }
                Err(fault) => {
                    self.faulty += 1;
                    Complaint::Fault(fault)
                }
            },
            PageVerdict::Uninitialised => {
                self.uninitialised += 1;
                return;
            }
            PageVerdict::Correctable { bits } => {
                self.correctable += 1;
                Complaint::Correctable { bits }
            }
            PageVerdict::WrongPage { really } => {
                self.wrong_page += 1;
                Complaint::WrongPage { really }
            }
            PageVerdict::Bad {
                stored, computed, ..
            } => {
                self.bad += 1;
                Complaint::Checksum { stored, computed }
            }
        };
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding {
                page: number,
                complaint,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Complaint, Finding, Tally};
    use crate::page::{PageMut, PageSize, page_flags};
    use crate::page_check::PageFault;
    use crate::space::{Extent, ExtentSet};
    use units::{ObjectId, PageNumber};

    const SIZE: PageSize = PageSize::KIB_4;

    fn sealed(number: u32) -> Vec<u8> {
        let mut bytes = vec![0; SIZE.bytes()];
        let mut page = PageMut::new(&mut bytes);
        page.format(page_flags::LEAF, ObjectId(1));
        page.insert(0, 0, b"\x01\0kd").expect("room");
        page.seal(PageNumber(number));
        bytes
    }

    #[test]
    fn every_kind_of_page_is_counted_once_and_named() {
        let mut flipped = sealed(12);
        flipped[2000] ^= 1;
        let mut lost = sealed(14);
        lost[2000] ^= 3;
        let mut faulty = sealed(15);
        faulty[28] ^= 1;
        crate::checksum::store(&mut faulty, PageNumber(15));
        let pages = [
            sealed(10),
            vec![0; 4096],
            flipped,
            sealed(99),
            lost,
            faulty,
            vec![0xEE; 4096],
        ];
        let owned = ExtentSet::new([Extent::starting(PageNumber(1), 15)]);
        let mut tally = Tally::default();
        tally.add_block(PageNumber(10), &pages.concat(), SIZE, Some(&owned));

        let counts = [
            tally.seen,
            tally.good,
            tally.uninitialised,
            tally.correctable,
        ];
        assert_eq!(counts, [7, 1, 1, 1]);
        assert_eq!(
            [tally.wrong_page, tally.bad, tally.faulty, tally.foreign],
            [1; 4]
        );
        assert_eq!(tally.damaged(), 4);
        let named: Vec<_> = tally
            .findings
            .iter()
            .map(|finding| finding.page.0)
            .collect();
        assert_eq!(named, [12, 13, 14, 15]);
        let really = PageNumber(99);
        assert_eq!(tally.findings[1].complaint, Complaint::WrongPage { really });
        let Finding {
            complaint: Complaint::Fault(fault),
            ..
        } = &tally.findings[3]
        else {
            panic!("page 15 is faulty")
        };
        assert!(matches!(fault, PageFault::SpaceIdentity { .. }));
        let doubled = tally.clone();
        tally.merge(doubled);
        assert_eq!((tally.seen, tally.findings.len()), (14, 8));
    }
}
