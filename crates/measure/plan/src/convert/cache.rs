//! The flash cache that a plan puts between the engine and its volumes.

use units::Bytes;

use super::Check;
use crate::complaint::Problem;
use crate::low;
use crate::model::{Database, FlashCachePlan};

/// Smallest size that holds a few segments of the cache's log.
const SMALLEST: Bytes = Bytes::from_mib(64);

/// Largest size the cache was tested with.
const LARGEST: Bytes = Bytes(16 << 40);

/// The only mode so far.
const WRITE_THROUGH: &str = "write-through";

impl Check<'_> {
    /// Checks a `[cache]` section; `None` if its file or size is missing.
    pub(super) fn flash_cache(
        &mut self,
        low: &low::LowFlashCache,
        databases: Option<&[Database]>,
    ) -> Option<FlashCachePlan> {
        let file = low.file.as_ref().filter(|file| !file.value.is_empty());
        if file.is_none() {
            self.missing(&low.place, "file", "`file = \"/mnt/flash/cache\"` to [cache]");
        }
        if low.size.is_none() {
            self.missing(&low.place, "size", "`size = \"100GiB\"` to [cache]");
        }
        if let Some(mode) = low.mode.as_ref().filter(|mode| mode.value != WRITE_THROUGH) {
            let found = mode.value.clone();
            let choices = &[WRITE_THROUGH];
            self.complaints.push(mode.place.complaint(Problem::NotAChoice { found, choices }));
        }
        let size = low.size.as_ref();
        let size = self.within(size, SMALLEST, (SMALLEST, LARGEST));
        let limits = (Bytes::from_mib(1), Bytes::from_gib(1_024));
        let limit = low.write_limit.as_ref();
        let write_limit = limit.map(|given| self.within(Some(given), limits.0, limits));
        Some(FlashCachePlan {
            file: file?.value.clone(),
            size,
            folders: self.cached_folders(low, databases.unwrap_or_default()),
            write_limit,
        })
    }

    /// The folders whose files are cached: those of the databases, unless some are listed.
    fn cached_folders(&mut self, low: &low::LowFlashCache, databases: &[Database]) -> Vec<String> {
        let mut folders = Vec::new();
        for given in low.folders.as_deref().unwrap_or_default() {
            let is_used =
                databases.iter().any(|of| [&of.folder, &of.log_folder].contains(&&given.value));
            if databases.is_empty() || is_used {
                folders.push(given.value.clone());
            } else {
                let message = "holds no database and no log of this plan; leave it out";
                self.conflict(&given.place, message);
            }
        }
        if low.folders.is_none() {
            folders.extend(databases.iter().map(|of| of.folder.clone()));
        }
        folders.sort_unstable();
        folders.dedup();
        folders
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use crate::Plan;

    const PLAN: &str = "[databases]\nfolders = [\"/b\", \"/a\"]\nlog_folders = [\"/l\"]\n\
                        size = \"1GiB\"\n";

    fn plan(cache: &str) -> Result<Plan, String> {
        Plan::parse("p", &format!("{PLAN}{cache}")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_databases_are_cached_unless_folders_are_listed() {
        assert_eq!(plan("").unwrap().flash_cache, None);
        let cache = "[cache]\nfile = \"/f/c\"\nsize = \"1GiB\"\n";
        let plain = plan(cache).unwrap().flash_cache.unwrap();
        assert_eq!(
            (plain.size, plain.folders),
            (Bytes::from_gib(1), vec!["/a".into(), "/b".into()])
        );
        let listed = format!("{cache}folders = [\"/l\", \"/a\"]\nwrite_limit = \"50MiB\"\n");
        let whole = plan(&listed).unwrap();
        let listed = whole.flash_cache.clone().unwrap();
        assert_eq!(listed.folders, ["/a", "/l"]);
        assert_eq!(listed.write_limit, Some(Bytes::from_mib(50)));
        assert_eq!(Plan::parse("again", &whole.to_toml()).unwrap(), whole);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_key() {
        for (cache, expected) in [
            ("size = \"1GiB\"\n", "file"),
            ("file = \"/f\"\n", "size"),
            ("file = \"/f\"\nsize = \"1MiB\"\n", "[cache] size"),
            ("file = \"/f\"\nsize = \"1GiB\"\nmode = \"write-back\"\n", "write-through"),
            ("file = \"/f\"\nsize = \"1GiB\"\nfolders = [\"/x\"]\n", "holds no database"),
            ("file = \"/f\"\nsize = \"1GiB\"\nfiel = 1\n", "fiel"),
        ] {
            let error = plan(&format!("[cache]\n{cache}")).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
