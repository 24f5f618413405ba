//! The release to pack: its version in the spelling of each package format, its commit and its
//! time.

use std::fs;

use xtask::failure::Failure;
use xtask::shell;

/// Default address from which packages are fetched; it does not exist.
pub(super) const NO_ADDRESS: &str = "https://example.invalid/plimsoll";

/// A release, or a development build.
pub(super) struct Release {
    /// Version of the workspace, such as `0.1.0`.
    number: String,
    /// Day and commit, unless a tag names this release: `20261127` and `3adeb94f6a25`.
    unreleased: Option<(String, String)>,
    /// Commit time in seconds since 1970, which every file gets.
    pub epoch: u64,
    /// Address from which the release's files can be fetched, without a trailing slash.
    pub address: String,
}

impl Release {
    /// The release of the commit that is checked out.
    pub(super) fn here(address: &str) -> Result<Self, Failure> {
        let manifest = fs::read_to_string(shell::root().join("Cargo.toml")).map_err(Failure::of)?;
        let number = workspace_version(&manifest)
            .ok_or_else(|| Failure::new("Cargo.toml: no version under [workspace.package]"))?;
        let epoch = shell::capture(&["git", "show", "-s", "--format=%ct", "HEAD"])?;
        let epoch = epoch.trim().parse().map_err(Failure::of)?;
        let commit = shell::capture(&["git", "rev-parse", "--short=12", "HEAD"])?;
        // Git fails if the commit has no tag, which is not an error.
        let tag = shell::capture(&["git", "describe", "--tags", "--exact-match", "--match", "v*"]);
        let day = day(epoch, "%Y%m%d")?;
        let state = (day, commit.trim().to_owned());
        let unreleased = unreleased(&number, tag.ok().as_deref().map(str::trim), state)?;
        Ok(Self { number, unreleased, epoch, address: address.to_owned() })
    }

    /// Form for file names, Cargo, winget and scoop: `0.1.0`, or `0.1.0-dev.20261127`.
    pub(super) fn semantic(&self) -> String {
        self.spelled(|day, _| format!("-dev.{day}"))
    }

    /// Form for comparison by Debian and RPM: development builds sort before the release.
    pub(super) fn sorted(&self) -> String {
        self.spelled(|day, commit| format!("~git{day}.{commit}"))
    }

    /// Form for comparison by `PyPI`.
    pub(super) fn python(&self) -> String {
        self.spelled(|day, _| format!(".dev{day}"))
    }

    /// Three numbers, for comparison by Windows Installer.
    pub(super) fn number(&self) -> &str {
        &self.number
    }

    fn spelled(&self, more: impl FnOnce(&str, &str) -> String) -> String {
        let suffix = self.unreleased.as_ref().map(|(day, commit)| more(day, commit));
        format!("{}{}", self.number, suffix.unwrap_or_default())
    }

    /// Address from which `file` can be fetched.
    pub(super) fn link(&self, file: &str) -> String {
        format!("{}/v{}/{file}", self.address, self.semantic())
    }

    /// An unreleased version, for tests.
    #[cfg(test)]
    pub(super) fn example() -> Self {
        Self {
            number: "0.1.0".to_owned(),
            unreleased: Some(("20261127".to_owned(), "3adeb94f6a25".to_owned())),
            epoch: 1_795_811_568,
            address: NO_ADDRESS.to_owned(),
        }
    }
}

/// A moment in UTC, in the format of `date`.
pub(super) fn day(epoch: u64, format: &str) -> Result<String, Failure> {
    let said = shell::capture(&["date", "-u", "-d", &format!("@{epoch}"), &format!("+{format}")])?;
    Ok(said.trim().to_owned())
}

/// Day and commit of a development build; `None` for a release, whose tag must match the version.
fn unreleased(
    number: &str,
    tag: Option<&str>,
    state: (String, String),
) -> Result<Option<(String, String)>, Failure> {
    match tag {
        None => Ok(Some(state)),
        Some(tag) if tag.strip_prefix('v') == Some(number) => Ok(None),
        Some(tag) => Err(Failure::new(format!(
            "the tag {tag} and the version {number} of Cargo.toml differ: change one of them"
        ))),
    }
}

fn workspace_version(manifest: &str) -> Option<String> {
    let table: toml::Table = manifest.parse().ok()?;
    Some(table["workspace"].get("package")?.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Release, unreleased};

    #[test]
    fn what_is_not_released_sorts_before_the_release_in_every_spelling() {
        let release = Release::example();
        assert_eq!(release.semantic(), "0.1.0-dev.20261127");
        assert_eq!(release.sorted(), "0.1.0~git20261127.3adeb94f6a25");
        assert_eq!(release.python(), "0.1.0.dev20261127");
        let link = release.link("a.zip");
        assert_eq!(link, "https://example.invalid/plimsoll/v0.1.0-dev.20261127/a.zip");
    }

    #[test]
    fn a_tag_is_the_version_or_refused() {
        let state = || ("20261127".to_owned(), "3adeb94".to_owned());
        assert_eq!(unreleased("0.1.0", Some("v0.1.0"), state()).unwrap(), None);
        assert_eq!(unreleased("0.1.0", None, state()).unwrap(), Some(state()));
        let refused = unreleased("0.1.0", Some("v0.2.0"), state()).unwrap_err();
        assert!(refused.to_string().contains("v0.2.0 and the version 0.1.0"));
    }
}
