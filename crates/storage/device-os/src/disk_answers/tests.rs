//! Hand-made answers in the layout that Windows uses.

use super::{
    Descriptor, DiskExtent, SectorSizes, ToldCache, bytes_read, disk_bytes, extents, has_integrity,
    has_seek_penalty, is_bitlocker, scheme,
};
use crate::probe::{OwnCache, Transport};

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A descriptor with vendor and product after its 36 bytes.
fn descriptor(bus: u32, vendor: &str, product: &str) -> Vec<u8> {
    let product_at = 36 + u32::try_from(vendor.len()).unwrap() + 1;
    let vendor_at = if vendor.is_empty() { 0 } else { 36 };
    let mut bytes = words(&[40, 100, 0, vendor_at, product_at, 0, 0, bus, 0]);
    bytes.extend(format!("{vendor}\0{product}\0").bytes());
    bytes
}

#[test]
fn a_descriptor_tells_model_and_bus() {
    let told = Descriptor::of(&descriptor(10, "SEAGATE ", "ST4000NM0023    ")).unwrap();
    assert_eq!(told.model.as_deref(), Some("SEAGATE ST4000NM0023"));
    assert_eq!(told.transport, Some(Transport::Sas));
    assert!(!told.is_virtual && !told.is_made_of_others);
    for (bus, transport) in [
        (11, Some(Transport::Ata)),
        (6, Some(Transport::FibreChannel)),
        (9, Some(Transport::Iscsi)),
        (17, Some(Transport::Nvme)),
        (8, Some(Transport::Sas)),
        (7, Some(Transport::Usb)),
        (14, None),
        (99, None),
    ] {
        assert_eq!(Descriptor::of(&descriptor(bus, "", "x")).unwrap().transport, transport);
    }
    assert!(Descriptor::of(&descriptor(16, "Msft", "Storage Space")).unwrap().is_made_of_others);
    assert!(Descriptor::of(&descriptor(10, "Msft", "Virtual Disk")).unwrap().is_virtual);
    assert!(Descriptor::of(&descriptor(15, "", "x")).unwrap().is_virtual);
}

#[test]
fn an_answer_that_is_cut_or_lies_about_its_places_is_not_read_past_its_end() {
    let whole = descriptor(11, "vendor", "product");
    for end in 0..whole.len() {
        let told = Descriptor::of(&whole[..end]);
        assert_eq!(told.is_some(), end >= 32, "{end}");
    }
    let far = words(&[40, 40, 0, u32::MAX, 4_000, 0, 0, 11, 0]);
    assert_eq!(Descriptor::of(&far).unwrap().model, None);
    assert_eq!(extents(&words(&[u32::MAX, 0, 1, 0])), []);
    assert_eq!(ToldCache::of(&[]).is_flushed, None);
    assert_eq!((scheme(&[1]), disk_bytes(&[0; 31]), has_integrity(&[2])), (None, None, None));
    assert_eq!((has_seek_penalty(&[1; 8]), SectorSizes::of(&[1; 27])), (None, None));
    assert!(!is_bitlocker(b"\xeb\x58\x90-FVE-F"));
}

/// A parsed cache report of type `kind`; `is_protected` is the administrator's declaration.
fn cache(kind: u32, enabled: u32, is_protected: bool) -> ToldCache {
    let mut bytes = words(&[28, 28, kind, enabled, 2, 2]);
    bytes.extend([1, u8::from(is_protected), 0, 0]);
    ToldCache::of(&bytes)
}

#[test]
fn a_cache_is_on_or_off_and_flushed_unless_it_is_said_to_be_protected() {
    let is_on = |of: &ToldCache| matches!(of.own, OwnCache::On(_));
    let is_off = |of: &ToldCache| matches!(of.own, OwnCache::Off(_));
    let on = cache(2, 2, false);
    assert!(is_on(&on) && on.is_flushed == Some(true));
    let believed = cache(2, 2, true);
    assert!(is_on(&believed) && believed.is_flushed == Some(false));
    for off in [cache(2, 1, false), cache(1, 0, false), cache(3, 2, false)] {
        assert!(is_off(&off) && off.is_flushed == Some(false), "{off:?}");
    }
    let unknown = cache(0, 0, false);
    assert!(matches!(unknown.own, OwnCache::Untold(_)) && unknown.is_flushed.is_none());
}

#[test]
fn sectors_rotation_places_and_sizes_are_read() {
    let sectors = SectorSizes::of(&words(&[28, 28, 64, 0, 512, 4096, 512])).unwrap();
    assert_eq!(sectors, SectorSizes { logical: 512, physical: 4096, misalignment: 512 });
    let unstated = SectorSizes::of(&words(&[28, 28, 0, 0, 512, 0, 0])).unwrap();
    assert_eq!(unstated.physical, 512);
    assert_eq!(SectorSizes::of(&words(&[28, 28, 0, 0, 0, 0, 0])), None);
    let penalty = |flag: u8| has_seek_penalty(&[&words(&[12, 12])[..], &[flag, 0, 0, 0]].concat());
    assert_eq!([penalty(1), penalty(0)], [Some(true), Some(false)]);
    let two = words(&[2, 0, 3, 0, 1 << 20, 0, 0, 1, 4, 0, 0, 2, 0, 1]);
    let expected = [
        DiskExtent { disk: 3, begin_bytes: 1 << 20 },
        DiskExtent { disk: 4, begin_bytes: 2 << 32 },
    ];
    assert_eq!(extents(&two), expected);
    assert_eq!([0, 1, 2].map(|style| scheme(&words(&[style]))), [Some("MBR"), Some("gpt"), None]);
    assert_eq!(disk_bytes(&words(&[0, 0, 12, 255, 63, 512, 0, 1])), Some(1 << 32));
}

#[test]
fn integrity_streams_and_bitlocker_are_known_by_their_marks() {
    let integrity = |algorithm: u8| has_integrity(&[&[algorithm, 0][..], &[0; 14]].concat());
    assert_eq!([integrity(0), integrity(2)], [Some(false), Some(true)]);
    assert!(is_bitlocker(b"\xeb\x58\x90-FVE-FS-\0\x02"));
    assert!(!is_bitlocker(b"\xeb\x52\x90NTFS    \0\x02"));
}

#[test]
fn a_disk_that_counts_nothing_says_nothing_of_its_reads() {
    assert_eq!(bytes_read(&words(&[7, 1, 5, 0, 9, 9])), Some(1 << 32 | 7));
    assert_eq!(bytes_read(&words(&[0, 0, 5, 0])), Some(0));
    assert_eq!(bytes_read(&words(&[0, 0, 0, 0, 9, 9])), None);
    assert_eq!(bytes_read(&[1; 15]), None);
}
