//! Lists the files in a system before and after a trial.

use std::collections::BTreeSet;
use std::path::Path;

use xtask::failure::Failure;
use xtask::shell;

/// Places that change in any case: records of package managers, system folders, and files of the
/// trial.
const BOOKS: [&str; 9] =
    ["proc", "sys", "run", "var/lib/dpkg", "var/log", "tmp", "root", "etc", "var/cache/ldconfig"];

/// Paths of files and folders outside [`BOOKS`].
pub(super) struct Listing(BTreeSet<String>);

impl Listing {
    pub(super) fn of(root: &Path) -> Result<Self, Failure> {
        let root = root.display().to_string();
        let found =
            shell::capture(&["find", &root, "-xdev", "-mindepth", "1", "-printf", "%P\\n"])?;
        Ok(Self(found.lines().filter(|path| !is_below(path, &BOOKS)).map(str::to_owned).collect()))
    }

    /// Fails if anything outside the `kept` folders has been added since `before`.
    pub(super) fn only_users_files_since(
        &self,
        before: &Self,
        kept: &[&str],
    ) -> Result<(), Failure> {
        let (users, strange): (Vec<String>, Vec<String>) =
            self.0.difference(&before.0).cloned().partition(|path| is_below(path, kept));
        println!("stays, of the user: {}", if users.is_empty() { "nothing" } else { &users[0] });
        if strange.is_empty() {
            return Ok(());
        }
        Err(Failure::list("the package leaves behind:", &strange))
    }
}

fn is_below(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Listing;

    #[test]
    fn what_a_package_leaves_is_named_and_what_the_user_made_is_not() {
        let listing = |paths: &[&str]| {
            Listing(paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>())
        };
        let before = listing(&["usr"]);
        let kept = listing(&["usr", "var/lib/plimsoll", "var/lib/plimsoll/kept"]);
        assert!(kept.only_users_files_since(&before, &["var/lib/plimsoll"]).is_ok());
        let left = listing(&["usr", "usr/bin/plimsoll"]);
        let failure = left.only_users_files_since(&before, &["var/lib/plimsoll"]).unwrap_err();
        assert!(failure.to_string().contains("usr/bin/plimsoll"));
    }
}
