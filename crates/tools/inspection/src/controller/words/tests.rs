use super::super::{CacheBackup, Health};
use super::{backup, health, percent, size_bytes, switch};

#[test]
fn sizes_are_binary() {
    for (text, bytes) in [
        ("2048MB", Some(2 << 30)),
        ("256 KB", Some(256 << 10)),
        ("64 KiB", Some(64 << 10)),
        ("1.000 MB", Some(1 << 20)),
        ("8.000 GB", Some(8 << 30)),
        ("512B", Some(512)),
        ("256,0 KB", None),
        ("\u{662}\u{665}\u{666} KB", None),
        ("N/A", None),
        ("", None),
        ("1e400 GB", None),
    ] {
        assert_eq!(size_bytes(text), bytes, "{text}");
    }
}

#[test]
fn a_switch_is_on_off_or_neither() {
    assert_eq!(switch("Enabled (write-back)"), Some(true));
    assert_eq!(switch("Disabled"), Some(false));
    assert_eq!(switch("Configurable"), None);
    assert_eq!(switch("Enabled for some drives"), None);
}

#[test]
fn a_state_is_good_bad_or_not_understood() {
    for good in ["OK", "Optl", "Online, Spun Up", "Unconfigured(good), Spun Up", "Okay"] {
        assert_eq!(health(good), Some(Health::Ok), "{good}");
    }
    for bad in ["Interim Recovery Mode", "Failed", "OfLn", "Needs Attention", "Rebuild"] {
        assert_eq!(health(bad), Some(Health::Bad(bad.to_owned())), "{bad}");
    }
    for unknown in ["OK, but not for long", "Ripe", "", "En linea"] {
        assert_eq!(health(unknown), None, "{unknown}");
    }
}

#[test]
fn a_battery_is_ready_not_ready_absent_or_not_understood() {
    assert_eq!(backup("Okay"), Some(CacheBackup::Ready));
    assert_eq!(backup("Learning"), Some(CacheBackup::NotReady("Learning".to_owned())));
    assert_eq!(backup("Not Installed"), Some(CacheBackup::Absent));
    assert_eq!(backup("Ripe"), None);
    assert_eq!((percent("10 percent"), percent("25 %"), percent("x")), (Some(10), Some(25), None));
}
