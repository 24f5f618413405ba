//! The shortest time that a random read can take by the physics of a description, to detect a
//! simulation that beats it.

use units::Nanos;

use crate::description::ArrayDescription;

const MILLISECOND_NS: f64 = 1e6;
const MINUTE_MS: f64 = 60_000.0;

impl ArrayDescription {
    /// The least mean time of random reads from databases of `database_bytes` in total: the
    /// shortest seek and half a revolution, or a read of a flash page. Reads that memory can answer
    /// take no time: the stated share of a read cache, and at most the part of the databases that
    /// fits in the controller's memory. Flash in the host may answer every read: then no bound is
    /// known.
    pub fn least_random_read(&self, database_bytes: u64) -> Nanos {
        if self.host_cache.is_some() {
            return Nanos::ZERO;
        }
        let by_memory = (self.cache.size_mib << 20) as f64 / database_bytes.max(1) as f64;
        let answered = self.cache.read_hit_percent as f64 / 100.0 + by_memory;
        nanoseconds(self.medium_read_ms() * (1.0 - answered).max(0.0))
    }

    /// Time of a read that a drive answers from its medium, in milliseconds; the time of a flash
    /// page for drives that do not seek.
    fn medium_read_ms(&self) -> f64 {
        let disk = self.disk.as_ref();
        let disk = disk.map(|disk| disk.seek_track_to_track_ms + MINUTE_MS / disk.rpm / 2.0);
        disk.unwrap_or_else(|| self.flash.as_ref().map_or(0.0, |flash| flash.read_us / 1_000.0))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a checked description has times of milliseconds, none of them negative"
)]
fn nanoseconds(milliseconds: f64) -> Nanos {
    Nanos((milliseconds * MILLISECOND_NS) as u64)
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use crate::ArrayDescription;

    const TEBIBYTE: u64 = 1 << 40;

    fn least(text: &str, changes: &[(&str, &str)], database_bytes: u64) -> Nanos {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let changes: Vec<(String, String)> = changes.iter().map(owned).collect();
        let array = ArrayDescription::parse("array", text, &changes).expect("a valid array");
        array.least_random_read(database_bytes)
    }

    #[test]
    fn a_disk_turns_half_a_revolution_after_its_shortest_seek() {
        let shelf = include_str!("../../../../arrays/shelf-15k.toml");
        // 0.2 ms plus half of 4 ms; 512 MiB are a twentieth of a percent of a TiB.
        let found = least(shelf, &[], TEBIBYTE);
        assert!((Nanos(2_198_000)..=Nanos(2_200_000)).contains(&found), "{found:?}");
    }

    #[test]
    fn only_memory_that_is_described_answers_faster() {
        let shelf = include_str!("../../../../arrays/shelf-15k.toml");
        let half = least(shelf, &[("cache.read_hit_percent", "50")], TEBIBYTE);
        assert!((Nanos(1_098_000)..=Nanos(1_100_000)).contains(&half), "{half:?}");
        // Databases of 1 GiB, half of which fit in the memory; and smaller ones that fit entirely.
        assert_eq!(least(shelf, &[], 1 << 30), Nanos(1_100_000));
        assert_eq!(least(shelf, &[], 256 << 20), Nanos::ZERO);
    }

    #[test]
    fn flash_takes_the_time_of_a_page() {
        let flash = include_str!("../../../../arrays/nvme.toml");
        let found = least(flash, &[], TEBIBYTE);
        assert!(found > Nanos(10_000) && found < Nanos(200_000), "{found:?}");
    }
}
