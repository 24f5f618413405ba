//! Manifests for package catalogues: winget and Scoop on Windows, Homebrew on Linux.

use xtask::failure::Failure;

use super::json::Json;
use super::machine::Machine;
use super::release::{Release, day};
use super::tree::Tree;

const SUMMARY: &str = "Finds the load line of mailbox storage and proves it";

/// A file that a catalogue refers to.
pub(super) struct Asset {
    pub name: String,
    pub sha256: String,
}

/// The manifests for Windows, with paths below `winget/` and `scoop/`. The installer has the
/// product code that is given.
pub(super) fn windows(
    zip: &Asset,
    msi: Option<(&Asset, &str)>,
    release: &Release,
) -> Result<Tree, Failure> {
    let mut tree = Tree::default();
    let mut winget = |name: &str, text: String| {
        tree.file(&format!("winget/Plimsoll.Plimsoll{name}.yaml"), 0o644, text.into_bytes());
    };
    winget("", winget_head("version", release, "DefaultLocale: en-US\n"));
    winget(".installer", winget_head("installer", release, &installers(zip, msi, release)?));
    let locale = format!(
        "PackageLocale: en-US\nPublisher: The Plimsoll contributors\nPackageName: Plimsoll\n\
         License: MIT OR Apache-2.0\nShortDescription: {SUMMARY}\n"
    );
    winget(".locale.en-US", winget_head("defaultLocale", release, &locale));
    tree.file("scoop/plimsoll.json", 0o644, scoop(zip, release).into_bytes());
    Ok(tree)
}

fn winget_head(kind: &str, release: &Release, body: &str) -> String {
    format!(
        "PackageIdentifier: Plimsoll.Plimsoll\nPackageVersion: {}\n{body}\
         ManifestType: {kind}\nManifestVersion: 1.6.0\n",
        release.semantic()
    )
}

fn installers(
    zip: &Asset,
    msi: Option<(&Asset, &str)>,
    release: &Release,
) -> Result<String, Failure> {
    let date = day(release.epoch, "%Y-%m-%d")?;
    let folder = format!("plimsoll-{}", release.semantic());
    let mut text = format!(
        "ReleaseDate: {date}\nInstallers:\n- Architecture: x64\n  InstallerType: zip\n  \
         NestedInstallerType: portable\n  NestedInstallerFiles:\n  \
         - RelativeFilePath: {folder}\\plimsoll.exe\n    PortableCommandAlias: plimsoll\n  \
         InstallerUrl: {}\n  InstallerSha256: {}\n",
        release.link(&zip.name),
        zip.sha256.to_uppercase(),
    );
    if let Some((msi, code)) = msi {
        let msi = format!(
            "- Architecture: x64\n  InstallerType: wix\n  Scope: machine\n  \
             ProductCode: '{{{code}}}'\n  InstallerUrl: {}\n  InstallerSha256: {}\n",
            release.link(&msi.name),
            msi.sha256.to_uppercase(),
        );
        text.push_str(&msi);
    }
    Ok(text)
}

fn scoop(zip: &Asset, release: &Release) -> String {
    let build = Json::object([
        ("url", Json::text(release.link(&zip.name))),
        ("hash", Json::text(zip.sha256.as_str())),
        ("extract_dir", Json::text(format!("plimsoll-{}", release.semantic()))),
    ]);
    let document = Json::object([
        ("version", Json::text(release.semantic())),
        ("description", Json::text(SUMMARY)),
        ("homepage", Json::text(release.address.as_str())),
        ("license", Json::text("MIT|Apache-2.0")),
        ("architecture", Json::object([("64bit", build)])),
        ("bin", Json::text("plimsoll.exe")),
    ]);
    format!("{document}\n")
}

/// The Homebrew formula, which installs the tarball for the user's machine.
pub(super) fn homebrew(tarballs: &[(Machine, Asset)], release: &Release) -> String {
    let blocks = tarballs.iter().map(|(machine, tarball)| {
        format!(
            "  {} do\n    url \"{}\"\n    sha256 \"{}\"\n  end\n",
            machine.homebrew(),
            release.link(&tarball.name),
            tarball.sha256,
        )
    });
    format!(
        r##"class Plimsoll < Formula
  desc "{SUMMARY}"
  homepage "{address}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

{blocks}
  def install
    bin.install "bin/plimsoll"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/plimsoll"
    zsh_completion.install "share/zsh/site-functions/_plimsoll"
    fish_completion.install "share/fish/vendor_completions.d/plimsoll.fish"
    doc.install Dir["share/doc/plimsoll/*"]
  end

  test do
    assert_match version.major_minor.to_s, shell_output("#{{bin}}/plimsoll --version")
  end
end
"##,
        address = release.address,
        version = release.semantic(),
        blocks = blocks.collect::<String>(),
    )
}

#[cfg(test)]
mod tests {
    use super::{Asset, homebrew, windows};
    use crate::dist::machine::Machine;
    use crate::dist::release::Release;

    fn asset(name: &str) -> Asset {
        Asset { name: name.to_owned(), sha256: "ab".repeat(32) }
    }

    #[test]
    fn catalogues_name_the_file_and_its_checksum() {
        let release = Release::example();
        let (zip, msi) = (asset("p.zip"), asset("p.msi"));
        let tree = windows(&zip, Some((&msi, "CODE")), &release).unwrap();
        let text = |path: &str| {
            let found = tree.files().find(|(name, _, _)| *name == path).unwrap();
            String::from_utf8(found.2.to_vec()).unwrap()
        };
        let installers = text("winget/Plimsoll.Plimsoll.installer.yaml");
        for part in ["/p.zip\n", "/p.msi\n", "ProductCode: '{CODE}'", &"AB".repeat(32)] {
            assert!(installers.contains(part), "{part}: {installers}");
        }
        assert!(text("scoop/plimsoll.json").contains(&"ab".repeat(32)));
        assert!(text("winget/Plimsoll.Plimsoll.yaml").contains("ManifestType: version"));
        let tarballs = [(Machine::Amd64, asset("p.tar.gz")), (Machine::Arm64, asset("q.tar.gz"))];
        let formula = homebrew(&tarballs, &release);
        assert!(formula.contains("on_intel do\n    url \"https://example.invalid/plimsoll/"));
        assert!(formula.contains("/p.tar.gz\"\n") && formula.contains("/q.tar.gz\"\n"));
    }
}
