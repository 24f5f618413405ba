use proptest::prelude::*;
use units::{ObjectId, PageNumber, Prng, Seed};

use super::{Kernel, PageVerdict, repair, store, verify};
use crate::page::{PageMut, PageSize, encode_node, page_flags};

const PAGE: PageNumber = PageNumber(1234);

/// A sealed page with some nodes of random bytes.
fn sealed(size: PageSize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; size.bytes()];
    let mut prng = Prng::new(Seed(seed));
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF, ObjectId(5));
    for line in 0u32..9 {
        let mut data = vec![0; size.bytes() / 12];
        prng.fill(&mut data);
        let mut node = Vec::new();
        let flags = encode_node(&[], &line.to_be_bytes(), &data, &mut node);
        page.insert(line as usize, flags, &node).expect("room");
    }
    page.seal(PAGE);
    bytes
}

fn flip(bytes: &mut [u8], bit: u32) {
    bytes[bit as usize / 8] ^= 1 << (bit % 8);
}

fn bits_of(size: PageSize) -> u32 {
    size.bytes_u32() * 8
}

/// Bits whose flip cannot be corrected: the first block's own checksum and the format flag.
fn is_beyond_repair(bit: u32) -> bool {
    bit < 64 || bit == 301
}

#[test]
fn pages_are_good_where_they_belong_and_name_their_place_elsewhere() {
    for size in PageSize::ALL {
        let bytes = sealed(size, 1);
        assert_eq!(verify(&bytes, PAGE), PageVerdict::Good, "{size}");
        let elsewhere = verify(&bytes, PageNumber(77));
        assert_eq!(elsewhere, PageVerdict::WrongPage { really: PAGE }, "{size}");
        assert_eq!(verify(&vec![0; size.bytes()], PAGE), PageVerdict::Uninitialised);
    }
}

#[test]
fn every_flipped_bit_of_a_page_of_zeros_is_found_and_a_second_one_is_not_forgiven() {
    for size in PageSize::ALL {
        let mut bytes = vec![0; size.bytes()];
        for bit in 0..bits_of(size) {
            flip(&mut bytes, bit);
            assert_eq!(verify(&bytes, PAGE), PageVerdict::FlippedZero { bit });
            flip(&mut bytes, bit);
        }
        let last = bits_of(size) - 1;
        for other in [0, 301, last - 1, last - 64] {
            flip(&mut bytes, last);
            flip(&mut bytes, other);
            let verdict = verify(&bytes, PAGE);
            assert!(matches!(verdict, PageVerdict::Bad { .. }), "{size} {other}: {verdict:?}");
            assert_eq!(repair(&mut bytes, PAGE), None);
            bytes.fill(0);
        }
    }
}

#[test]
fn every_flipped_bit_of_a_small_page_is_found_and_put_right() {
    let good = sealed(PageSize::KIB_4, 2);
    for bit in 0..bits_of(PageSize::KIB_4) {
        let mut bytes = good.clone();
        flip(&mut bytes, bit);
        let verdict = verify(&bytes, PAGE);
        if is_beyond_repair(bit) {
            // The page number is in the low half of the checksum: a flip there looks like a page
            // that belongs elsewhere, unless further blocks decide.
            let expected = match bit {
                0..32 => PageVerdict::WrongPage { really: PageNumber(PAGE.0 ^ 1 << bit) },
                _ => PageVerdict::FlippedChecksum { bit },
            };
            assert_eq!(verdict, expected, "bit {bit}");
            continue;
        }
        assert_eq!(verdict, PageVerdict::Correctable { bits: vec![bit] });
        assert_eq!(repair(&mut bytes, PAGE), Some(vec![bit]));
        assert!(bytes == good, "bit {bit}");
    }
}

#[test]
fn the_old_checksum_is_known() {
    let mut bytes = vec![7; 8192];
    bytes[36..40].fill(0);
    bytes[4..8].copy_from_slice(&PAGE.0.to_le_bytes());
    super::store_header(&mut bytes);
    assert_eq!(verify(&bytes, PAGE), PageVerdict::Good);
    assert_eq!(verify(&bytes, PageNumber(1)), PageVerdict::WrongPage { really: PAGE });
    bytes[100] ^= 4;
    assert!(matches!(verify(&bytes, PAGE), PageVerdict::Bad { block: 0, .. }));
}

#[test]
fn a_repair_that_leaves_a_faulty_page_is_refused() {
    let mut bytes = sealed(PageSize::KIB_8, 3);
    bytes[28] ^= 1;
    store(&mut bytes, PAGE);
    flip(&mut bytes, 5000);
    let before = bytes.clone();
    assert_eq!(verify(&bytes, PAGE), PageVerdict::Correctable { bits: vec![5000] });
    assert_eq!(repair(&mut bytes, PAGE), None);
    assert_eq!(bytes, before);
}

/// The definition, bit by bit, as in the format specification.
fn by_bits(block: &[u8], is_first: bool, page: PageNumber) -> u64 {
    let highest = block.len() * 8 - 1;
    let (mut low, mut high, mut xor) = (0, 0, 0u32);
    for (index, byte) in block.iter().enumerate().skip(if is_first { 8 } else { 0 }) {
        for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
            low ^= index * 8 + bit;
            high ^= highest - (index * 8 + bit);
            xor ^= 1 << ((index * 8 + bit) % 32);
        }
    }
    (high as u64) << 48 | (low as u64) << 32 | u64::from(xor ^ page.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_kernel_gives_the_sums_of_the_definition(
        seed in any::<u64>(),
        sparse in any::<bool>(),
    ) {
        for bytes in [4096, 8192] {
            let mut block = vec![0; bytes];
            if sparse {
                let place = Prng::new(Seed(seed)).below(bytes as u64);
                flip(&mut block, u32::try_from(place).expect("on the block") * 8 + 3);
            } else {
                Prng::new(Seed(seed)).fill(&mut block);
            }
            let expected = super::Parities::by_words(&block);
            for kernel in Kernel::ALL {
                let sums = kernel.try_parities(&block);
                prop_assert!(sums.is_none_or(|sums| sums == expected), "{}", kernel.name());
            }
            for is_first in [true, false] {
                let sum = super::block_checksum(&block, is_first, PAGE);
                prop_assert_eq!(sum, by_bits(&block, is_first, PAGE));
            }
        }
    }

    #[test]
    fn any_flipped_bit_of_a_large_page_is_put_right(
        size in proptest::sample::select(vec![PageSize::KIB_8, PageSize::KIB_16, PageSize::KIB_32]),
        place in any::<u32>(),
        in_header in any::<bool>(),
    ) {
        let good = sealed(size, 4);
        let bit = place % if in_header { 80 * 8 } else { bits_of(size) };
        let mut bytes = good.clone();
        flip(&mut bytes, bit);
        if is_beyond_repair(bit) {
            let is_certain = bit >= 32 || !size.is_small();
            let located = verify(&bytes, PAGE) == PageVerdict::FlippedChecksum { bit };
            prop_assert_eq!(located, is_certain);
            prop_assert_eq!(repair(&mut bytes, PAGE), None);
        } else {
            prop_assert_eq!(repair(&mut bytes, PAGE), Some(vec![bit]));
            prop_assert!(bytes == good);
        }
    }

    #[test]
    fn one_bit_in_each_block_is_put_right(places in any::<[u32; 4]>()) {
        let size = PageSize::KIB_32;
        let good = sealed(size, 5);
        let mut bytes = good.clone();
        let block_bits = bits_of(size) / 4;
        for (block, place) in (0u32..).zip(places) {
            flip(&mut bytes, block * block_bits + 640 + place % (block_bits - 640));
        }
        prop_assert!(repair(&mut bytes, PAGE).is_some_and(|bits| bits.len() == 4));
        prop_assert!(bytes == good);
    }

    #[test]
    fn two_flipped_bits_of_a_block_are_refused(
        size in proptest::sample::select(PageSize::ALL.to_vec()),
        places in any::<[u32; 2]>(),
    ) {
        let block_bits = u32::try_from(size.checksum_block_bytes() * 8).expect("small");
        let bits = places.map(|place| 640 + place % (block_bits - 640));
        prop_assume!(bits[0] != bits[1]);
        let mut bytes = sealed(size, 6);
        for bit in bits {
            flip(&mut bytes, bit);
        }
        let verdict = verify(&bytes, PAGE);
        prop_assert!(matches!(verdict, PageVerdict::Bad { block: 0, .. }), "{verdict:?}");
    }
}
