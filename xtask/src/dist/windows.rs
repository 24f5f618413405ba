//! Packages for Windows, made on Linux: a zip file, and an installer by Debian's `wixl`.

mod settled;

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use xtask::failure::Failure;
use xtask::shell;

use super::archive::zip;
use super::digest::sha256;
use super::payload::{self, Program};
use super::release::Release;
use super::tree::Tree;

/// Code that must be the same in every release, so that an installer replaces an older release.
const UPGRADE_CODE: &str = "7C1D5B0E-5B53-4B0C-9A35-6A5B2B8C9D41";

/// Component id of the program for Windows Installer.
const COMPONENT: &str = "5E0C64E4-4A5D-4E58-8B0E-0F0C6B1B7A27";

/// The name of the zip file.
pub(super) fn zip_name(release: &Release) -> String {
    format!("plimsoll-{}-x86_64-pc-windows.zip", release.semantic())
}

/// The name of the installer.
pub(super) fn msi_name(release: &Release) -> String {
    format!("plimsoll-{}-x86_64.msi", release.semantic())
}

/// The zip file: the program for Windows, and documents that `linux`, built from the same commit,
/// prints.
pub(super) fn zipped(
    windows: &[u8],
    linux: &Program,
    licences: &str,
    release: &Release,
) -> Result<Vec<u8>, Failure> {
    let folder = format!("plimsoll-{}", release.semantic());
    let mut tree = Tree::default();
    tree.file(&format!("{folder}/plimsoll.exe"), 0o755, windows.to_vec());
    tree.file(&format!("{folder}/LICENCES.txt"), 0o644, licences.as_bytes().to_vec());
    let completion = linux.says(&["completions", "powershell"])?;
    tree.file(&format!("{folder}/plimsoll.ps1"), 0o644, completion.into_bytes());
    payload::documents(linux, &folder, &mut tree)?;
    zip::archive(&tree)
}

/// SQL for what `wixl` cannot express: the installer adds the program's folder to the path.
const ON_THE_PATH: [&str; 4] = [
    "CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL, \
     `Value` CHAR(255), `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)",
    "INSERT INTO `Environment` (`Environment`, `Name`, `Value`, `Component_`) \
     VALUES ('Path', '=-*PATH', '[~];[INSTALLDIR]', 'Program')",
    "INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) \
     VALUES ('RemoveEnvironmentStrings', 3300)",
    "INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) \
     VALUES ('WriteEnvironmentStrings', 5200)",
];

/// Builds the installer; returns `false` if `wixl` or `msitools` is missing.
pub(super) fn installer(
    windows: &[u8],
    release: &Release,
    work: &Path,
    to: &Path,
) -> Result<bool, Failure> {
    if !shell::installed("wixl") || !shell::installed("msiinfo") {
        return Ok(false);
    }
    fs::create_dir_all(work).map_err(Failure::of)?;
    stage(&work.join("plimsoll.exe"), windows, release.epoch)?;
    let source = work.join("plimsoll.wxs");
    let text = description(&product_code(windows, release)?, release);
    fs::write(&source, text).map_err(Failure::of)?;
    let (to, source) = (to.display().to_string(), source.display().to_string());
    let mut command = shell::command(&["wixl", "--arch", "x64", "-o", &to, &source]);
    // `wixl` looks files up next to the description, never by full path.
    command.current_dir(work).env("SOURCE_DATE_EPOCH", release.epoch.to_string()).env("TZ", "UTC");
    let output = command.output().map_err(Failure::of)?;
    if !output.status.success() {
        return Err(Failure::new(String::from_utf8_lossy(&output.stderr)));
    }
    for query in ON_THE_PATH {
        shell::capture(&["msibuild", &to, "-q", query])?;
    }
    let mut bytes = fs::read(&to).map_err(Failure::of)?;
    let known = [&*product_code(windows, release)?, UPGRADE_CODE, COMPONENT];
    settled::settle(&mut bytes, &known, release.epoch)?;
    fs::write(&to, bytes).map_err(Failure::of)?;
    Ok(true)
}

/// Writes a file with the time of the release, because the installer's cabinet keeps times.
fn stage(file: &Path, bytes: &[u8], epoch: u64) -> Result<(), Failure> {
    fs::write(file, bytes).map_err(Failure::of)?;
    let opened = fs::File::options().write(true).open(file).map_err(Failure::of)?;
    opened.set_modified(UNIX_EPOCH + Duration::from_secs(epoch)).map_err(Failure::of)
}

/// The installer's product code, derived from its contents.
pub(super) fn product_code(windows: &[u8], release: &Release) -> Result<String, Failure> {
    let seed = format!("{} {}", release.semantic(), sha256(windows)?);
    Ok(identity(&sha256(seed.as_bytes())?))
}

/// A GUID made of the first digits of `digest`.
fn identity(digest: &str) -> String {
    let digits = digest.to_uppercase();
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..32]];
    parts.join("-")
}

fn description(product: &str, release: &Release) -> String {
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
  <Product Id="{product}" UpgradeCode="{UPGRADE_CODE}" Name="Plimsoll" Language="1033"
           Version="{version}" Manufacturer="The Plimsoll contributors">
    <Package Id="{product}" InstallerVersion="500" Compressed="yes" InstallScope="perMachine"
             Description="Test of storage for mail servers"/>
    <MajorUpgrade DowngradeErrorMessage="A newer Plimsoll is installed."/>
    <Media Id="1" Cabinet="plimsoll.cab" EmbedCab="yes"/>
    <Directory Id="TARGETDIR" Name="SourceDir">
      <Directory Id="ProgramFiles64Folder">
        <Directory Id="INSTALLDIR" Name="Plimsoll">
          <Component Id="Program" Guid="{COMPONENT}" Win64="yes">
            <File Id="plimsoll.exe" Name="plimsoll.exe" Source="plimsoll.exe" KeyPath="yes"/>
          </Component>
        </Directory>
      </Directory>
    </Directory>
    <Feature Id="Whole" Level="1"><ComponentRef Id="Program"/></Feature>
  </Product>
</Wix>
"#,
        version = release.number(),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{installer, product_code};
    use crate::dist::release::Release;
    use xtask::shell;

    #[test]
    fn another_program_is_another_product() {
        let release = Release::example();
        let code = |bytes| product_code(bytes, &release).unwrap();
        assert_eq!(code(b"a").len(), 36);
        assert_eq!(code(b"a"), code(b"a"));
        assert_ne!(code(b"a"), code(b"b"));
    }

    #[test]
    fn an_installer_holds_the_program_and_the_path() {
        let work = shell::root().join("target/dist-tests/msi");
        let _ = fs::remove_dir_all(&work);
        let file = work.join("plimsoll.msi");
        if !installer(b"MZ program", &Release::example(), &work, &file).unwrap() {
            println!("skipped: no wixl; on Debian the packages are wixl and msitools");
            return;
        }
        let other = work.join("other.msi");
        installer(b"MZ program", &Release::example(), &work, &other).unwrap();
        assert!(fs::read(&file).unwrap() == fs::read(other).unwrap(), "they differ");
        let staged = fs::metadata(work.join("plimsoll.exe")).unwrap().modified().unwrap();
        let epoch = std::time::Duration::from_secs(Release::example().epoch);
        assert_eq!(staged, std::time::UNIX_EPOCH + epoch, "its time is in the cabinet");
        let file = file.display().to_string();
        let files = shell::capture(&["msiinfo", "export", &file, "File"]).unwrap();
        assert!(files.contains("plimsoll.exe\tProgram"), "{files}");
        let variables = shell::capture(&["msiinfo", "export", &file, "Environment"]).unwrap();
        assert!(variables.contains("=-*PATH\t[~];[INSTALLDIR]"), "{variables}");
    }
}
