//! Checks arrays against arithmetic, and each of their parts against its purpose.

use device::Durability;
use units::{Prng, Seed};

use super::{ArrayState, HostRequest, HostWork};
use crate::description::ArrayDescription;
use crate::disk::VirtualMoment;

const ARRAY: &str = include_str!("../../../../../arrays/shelf-15k.toml");

fn array(changes: &[(&str, &str)]) -> ArrayState {
    let changes: Vec<_> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let description = ArrayDescription::parse("shelf", ARRAY, &changes).expect("an array");
    ArrayState::new(&description.model("shelf").expect("an array"), Seed(5))
}

/// Result of a closed loop of `sessions`: requests per second and mean milliseconds.
struct Loop {
    per_second: f64,
    mean_ms: f64,
    answered: u64,
}

/// Each session sends its next request when the previous one is answered.
fn closed_loop(
    array: &mut ArrayState,
    sessions: u64,
    requests: u64,
    mut next: impl FnMut(u64) -> (bool, u64, u64),
) -> Loop {
    let mut sent: Vec<VirtualMoment> = Vec::new();
    let mut submit = |array: &mut ArrayState, now: VirtualMoment, sent: &mut Vec<VirtualMoment>| {
        let token = sent.len() as u64;
        let (is_write, offset, length) = next(token);
        let write = HostWork::Write(Durability::Durable);
        let work = if is_write { write } else { HostWork::Read };
        sent.push(now);
        array.submit(now, HostRequest { token, work, offset, length });
    };
    for _ in 0..sessions {
        submit(array, 0, &mut sent);
    }
    let (mut answered, mut waited, mut now) = (0, 0.0, 0);
    while answered < requests {
        now = array.next_event().expect("something is under way");
        let mut done = Vec::new();
        array.advance(now, |token| done.push(token));
        for token in done {
            let at = sent[usize::try_from(token).expect("a few")];
            waited += (now - at) as f64 / 1e6;
            answered += 1;
            submit(array, now, &mut sent);
        }
    }
    let per_second = answered as f64 / (now as f64 / 1e9);
    Loop { per_second, mean_ms: waited / answered as f64, answered }
}

/// Pages all over an array.
fn random(seed: u64, array: &ArrayState) -> impl FnMut(u64) -> u64 + use<> {
    let mut prng = Prng::new(Seed(seed));
    let pages = array.capacity() / 32_768;
    move |_| prng.below(pages) * 32_768
}

fn random_load(changes: &[(&str, &str)], sessions: u64, is_write: bool) -> Loop {
    let mut array = array(changes);
    let mut place = random(1, &array);
    closed_loop(&mut array, sessions, 5_000, |token| (is_write, place(token), 32_768))
}

#[test]
fn more_disks_serve_more_random_reads() {
    let few = random_load(&[("raid.level", "0"), ("raid.disks", "2")], 32, false);
    let many = random_load(&[("raid.level", "0"), ("raid.disks", "8")], 32, false);
    let times = many.per_second / few.per_second;
    assert!((2.0..4.0).contains(&times), "{times}");
    assert!(many.answered >= 5_000 && many.mean_ms < few.mean_ms);
}

/// A write cache acknowledges in microseconds until it is full, then as fast as the disks are.
#[test]
fn a_write_cache_hides_the_disks_until_it_is_full() {
    let mut cached = array(&[("cache.size_mib", "64")]);
    let mut place = random(2, &cached);
    let first = closed_loop(&mut cached, 4, 1_000, |token| (true, place(token), 32_768));
    assert!(first.mean_ms < 1.0, "{}", first.mean_ms);
    let mut cached = array(&[("cache.size_mib", "64")]);
    let mut place = random(2, &cached);
    let whole = closed_loop(&mut cached, 4, 20_000, |token| (true, place(token), 32_768));
    let through = random_load(&[("cache.mode", "write-through")], 4, true);
    assert!(through.mean_ms > 4.0, "{}", through.mean_ms);
    // Four pairs of disks, with a queue to choose from.
    assert!((600.0..3_000.0).contains(&whole.per_second), "{}", whole.per_second);
    assert!(whole.mean_ms > 3.0 * first.mean_ms);
}

#[test]
fn a_failed_battery_writes_through() {
    let good = random_load(&[], 1, true);
    let failed = random_load(&[("cache.battery", "false")], 1, true);
    assert!(good.mean_ms < 1.0 && failed.mean_ms > 4.0, "{} {}", good.mean_ms, failed.mean_ms);
}

/// Checks that levels are ordered by the cost of a random write.
#[test]
fn parity_costs_random_writes_what_it_should() {
    let rate = |level, disks| {
        let changes =
            [("cache.mode", "write-through"), ("raid.level", level), ("raid.disks", disks)];
        random_load(&changes, 32, true).per_second
    };
    let (stripes, pairs, five, six) =
        (rate("0", "8"), rate("10", "8"), rate("5", "8"), rate("6", "8"));
    assert!(stripes > 1.5 * pairs, "{stripes} {pairs}");
    assert!(pairs > 1.3 * five, "{pairs} {five}");
    assert!(five > 1.2 * six, "{five} {six}");
}

#[test]
fn a_failed_disk_makes_reads_slower_and_none_is_lost() {
    let changes = [("raid.level", "5"), ("raid.disks", "7")];
    let whole = random_load(&changes, 16, false);
    let failed = random_load(&[&changes[..], &[("raid.failed", "1")]].concat(), 16, false);
    assert!(failed.per_second < 0.9 * whole.per_second);
    assert!(failed.answered >= 5_000);
}

#[test]
fn a_stream_that_is_read_ahead_is_faster_and_a_link_bounds_it() {
    let stream = |changes: &[(&str, &str)]| {
        let mut array = array(changes);
        let run = closed_loop(&mut array, 1, 2_000, |token| (false, token * 262_144, 262_144));
        run.per_second * 0.262_144
    };
    let (ahead, alone) = (stream(&[]), stream(&[("cache.read_ahead_kib", "0")]));
    assert!(ahead > 1.3 * alone, "{ahead} of {alone} MB/s");
    let narrow = stream(&[("path.mb_per_second", "118")]);
    assert!((90.0..118.5).contains(&narrow), "{narrow} MB/s");
}

#[test]
fn the_same_seed_gives_the_same_moments() {
    let moments = || {
        let mut array = array(&[]);
        let mut place = random(9, &array);
        let run = closed_loop(&mut array, 8, 3_000, |token| (token % 3 == 0, place(token), 32_768));
        (run.per_second.to_bits(), run.mean_ms.to_bits())
    };
    assert_eq!(moments(), moments());
}

/// A rebuild takes disk time, and the set regains its speed when it is done.
#[test]
fn a_rebuild_slows_the_load_down_and_ends() {
    let changes = [("raid.level", "5"), ("raid.disks", "7"), ("raid.failed", "1")];
    let rate = |more: &[(&str, &str)]| random_load(&[&changes[..], more].concat(), 16, false);
    let without = rate(&[]);
    let gently = rate(&[("raid.spares", "1"), ("raid.rebuild_percent", "10")]);
    let hard = rate(&[("raid.spares", "1"), ("raid.rebuild_percent", "100")]);
    assert!(gently.per_second < 0.99 * without.per_second, "{}", gently.per_second);
    assert!(hard.per_second < 0.9 * gently.per_second, "{}", hard.per_second);
    let nearly = [("raid.spares", "1"), ("raid.rebuilt_percent", "99.999")];
    let mended = rate(&nearly);
    let whole = random_load(&changes[..2], 16, false);
    assert!(mended.per_second > 0.97 * whole.per_second, "{}", mended.per_second);
}

/// Checked by arithmetic: an idle set is rebuilt at the sequential rate of one disk, or as the
/// pauses allow.
#[test]
fn a_quiet_set_is_rebuilt_at_the_rate_of_its_disks_and_its_share() {
    let rebuilt = |percent: &str| {
        let changes = [
            ("raid.level", "5"),
            ("raid.disks", "7"),
            ("raid.failed", "1"),
            ("raid.spares", "1"),
            ("raid.rebuild_percent", percent),
        ];
        let mut array = array(&changes);
        array.advance(20_000_000_000, |_| ());
        array.layout.failed.expect("600 GB take longer").rebuilt as f64 / 20e6
    };
    let (all, third) = (rebuilt("100"), rebuilt("30"));
    // Each part is read, then written: the two alternate, each with its rotational delay.
    assert!((60.0..102.0).contains(&all), "{all} MB/s");
    assert!((third / all - 0.3).abs() < 0.05, "{third} of {all}");
}

/// Checked by arithmetic: a rebuild at a fixed rate takes capacity divided by rate, within 2 %.
#[test]
fn a_rebuild_at_a_rate_takes_the_capacity_divided_by_it() {
    let changes = [("raid.level", "5"), ("raid.disks", "7"), ("disk.capacity_gb", "1")];
    let mut array = array(&changes);
    array.fail_drive();
    array.rebuild_from(0, Some(20e6));
    let mut now = 0;
    while array.rebuild_state().is_some() {
        now = array.next_event().expect("the rebuild is under way");
        array.advance(now, |_| ());
    }
    let whole = now as f64 / 1e9;
    assert!((whole / 50.0 - 1.0).abs() < 0.02, "{whole} s");
}

/// The same under a load that makes parts late: the next ones make up for it.
#[test]
fn a_rebuild_at_a_rate_takes_as_long_beside_a_load() {
    let changes = [
        ("raid.level", "5"),
        ("raid.disks", "7"),
        ("disk.capacity_gb", "1"),
        ("cache.mode", "pass-through"),
    ];
    let mut array = array(&changes);
    let span = array.capacity() / 32_768;
    let mut prng = units::Prng::new(Seed(5));
    array.fail_drive();
    array.rebuild_from(0, Some(20e6));
    let (mut now, step) = (0, 25_000_000);
    while array.rebuild_state().is_some() {
        let (offset, length) = (prng.below(span) * 32_768, 32_768);
        array.submit(now, HostRequest { token: now, work: HostWork::Read, offset, length });
        now += step;
        array.advance(now, |_| ());
    }
    let whole = now as f64 / 1e9;
    assert!((whole / 50.0 - 1.0).abs() < 0.02, "{whole} s");
}

/// Checked by arithmetic: a small read of a degraded RAID 5 of `n` drives takes 2 (n - 1) / n drive
/// requests. A small write takes 4 (n - 2) / n with both of its drives left, (n - 1) / n with its
/// data lost (the rest of the row is read, the parity written), and 1 / n with its parity lost.
#[test]
fn degraded_parity_demands_as_much_of_the_drives_as_arithmetic_says() {
    let n = 7.0;
    let changes = [("raid.level", "5"), ("raid.disks", "7"), ("cache.mode", "pass-through")];
    let demand = |is_write: bool| {
        let mut array = array(&changes);
        array.fail_drive();
        let span = array.capacity() / 32_768;
        let mut prng = units::Prng::new(Seed(3));
        let run =
            closed_loop(&mut array, 1, 4_000, |_| (is_write, prng.below(span) * 32_768, 32_768));
        let served: u64 = array.drive_work().iter().map(|(served, _)| served).sum();
        served as f64 / run.answered as f64
    };
    let reads = 2.0 * (n - 1.0) / n;
    let writes = 4.0 * (n - 2.0) / n + (n - 1.0) / n + 1.0 / n;
    let (read, write) = (demand(false), demand(true));
    assert!((read / reads - 1.0).abs() < 0.05, "{read} requests a read, not {reads}");
    assert!((write / writes - 1.0).abs() < 0.05, "{write} requests a write, not {writes}");
}

#[test]
fn neighbours_take_their_part_of_the_disks() {
    let alone = random_load(&[], 8, false);
    let busy = [("neighbours.reads_per_second", "400"), ("neighbours.writes_per_second", "100")];
    let beside = random_load(&busy, 8, false);
    let gone = alone.per_second - beside.per_second;
    assert!((100.0..700.0).contains(&gone), "{gone}");
}

#[test]
fn limits_hold_whatever_the_drives_could() {
    let rate = |more: &[(&str, &str)]| random_load(more, 32, false).per_second;
    let limited = rate(&[("limits.iops", "300")]);
    assert!((295.0..302.0).contains(&limited), "{limited}");
    let narrow = rate(&[("limits.mb_per_second", "5")]) * 32_768.0 / 1e6;
    assert!((4.9..5.05).contains(&narrow), "{narrow} MB/s");
}

/// Writes acknowledged from a disk's own memory are fast until it is full, and none of them is safe
/// there.
#[test]
fn only_what_has_left_volatile_memory_survives_a_loss_of_power() {
    let changes = [("cache.mode", "pass-through"), ("disk.write_cache_kib", "16384")];
    let mut array = array(&changes);
    let write = |token, durability| HostRequest {
        token,
        work: HostWork::Write(durability),
        offset: token * 1_048_576,
        length: 32_768,
    };
    array.submit(0, write(0, Durability::Volatile));
    array.submit(0, write(1, Durability::Durable));
    let mut spared = [0_u64; 2];
    let (mut answered, mut now) = (Vec::new(), 0);
    while let Some(next) = array.next_event() {
        now = next;
        array.advance(now, |token| answered.push((token, now)));
        for (token, spared) in (0..).zip(&mut spared) {
            if array.spares(token) && *spared == 0 {
                *spared = now;
            }
        }
    }
    let at = |token| answered.iter().find(|(of, _)| *of == token).expect("an answer").1;
    assert!(at(0) < 1_000_000 && spared[0] > at(0), "{answered:?} {spared:?}");
    assert!(at(1) > 1_000_000 && spared[1] <= at(1), "{answered:?} {spared:?}");
    array.submit(now, write(2, Durability::Volatile));
    array.submit(
        now + 1_000_000,
        HostRequest { work: HostWork::Flush, length: 0, ..write(3, Durability::Durable) },
    );
    while let Some(next) = array.next_event() {
        let mut flushed = false;
        array.advance(next, |token| flushed |= token == 3);
        assert!(!flushed || array.spares(2), "a flush leaves nothing at risk");
    }
}
