//! Release packages of the program for every common way of installing it. Each is reproducible byte
//! for byte, whatever the time and the folder of the build.

mod archive;
mod deb;
mod digest;
mod json;
mod linux;
mod machine;
mod manifests;
mod needs;
mod notices;
mod oci;
mod payload;
pub(crate) mod programs;
mod release;
mod rpm;
mod sbom;
mod site;
mod tree;
mod trial;
mod wheel;
mod windows;

use std::fs;
use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

use linux::Linux;
use machine::Machine;
use manifests::{Asset, homebrew};
use payload::Program;
use programs::Programs;
use release::Release;

/// Options of `cargo xtask dist`.
struct Order {
    /// Existing programs to pack instead of building new ones.
    binary: Option<PathBuf>,
    fixed: Option<PathBuf>,
    arm: Option<PathBuf>,
    windows: Option<PathBuf>,
    /// Folder for the packages.
    output: PathBuf,
    /// Address from which users will fetch the packages.
    address: String,
    /// Whether to build the documentation too.
    has_site: bool,
    /// Whether to install, run and remove each package.
    is_tried: bool,
}

/// Packages made so far, and reasons why some are missing.
struct Shelf<'a> {
    output: &'a Path,
    release: &'a Release,
    licences: String,
    lacking: Vec<String>,
}

/// Builds everything, or packs existing programs.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    let order = Order::of(words)?;
    let release = Release::here(&order.address)?;
    let _ = fs::remove_dir_all(&order.output);
    fs::create_dir_all(&order.output).map_err(Failure::of)?;
    let mut lacking = Vec::new();
    let programs = Programs::of(&order, release.epoch, &mut lacking)?;
    let licences = notices::of(&programs.targets())?;
    let mut shelf = Shelf { output: &order.output, release: &release, licences, lacking };
    pack(&programs, &mut shelf)?;
    if order.address == release::NO_ADDRESS {
        shelf.lacking.push("an address: manifests name example.invalid; give --address".to_owned());
    }
    checksums(&order.output)?;
    if order.has_site {
        site::build(&programs.packed()?, &order.address)?;
    }
    for lack in &shelf.lacking {
        println!("lacking: {lack}");
    }
    if order.is_tried { trial::every(&order.output, &release) } else { Ok(()) }
}

impl Order {
    fn of(words: &[&str]) -> Result<Self, Failure> {
        let mut order = Self {
            binary: None,
            fixed: None,
            arm: None,
            windows: None,
            output: shell::root().join("target/dist"),
            address: release::NO_ADDRESS.to_owned(),
            has_site: false,
            is_tried: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().map(|value| (*value).to_owned());
                value.ok_or_else(|| Failure::new(format!("{word} wants a value")))
            };
            match *word {
                "--binary" => order.binary = Some(value()?.into()),
                "--static" => order.fixed = Some(value()?.into()),
                "--arm" => order.arm = Some(value()?.into()),
                "--windows" => order.windows = Some(value()?.into()),
                "--output" => order.output = value()?.into(),
                "--address" => value()?.trim_end_matches('/').clone_into(&mut order.address),
                "--site" => order.has_site = true,
                "--try" => order.is_tried = true,
                other => return Err(Failure::new(format!("dist: no option {other}; see --help"))),
            }
        }
        Ok(order)
    }
}

fn pack(programs: &Programs, shelf: &mut Shelf<'_>) -> Result<(), Failure> {
    let work = shell::root().join("target/dist-work");
    let linux = programs.packed()?;
    println!("packed: {}", linux.says(&["--version"])?.trim());
    let here = Linux::of(linux, Machine::Amd64)?;
    here.pack_installed(shelf, &work)?;
    let fixed = programs.fixed.as_deref();
    let fixed = fixed.map(|path| Program::stripped(path, &work.join("static"))).transpose()?;
    let fixed = fixed.map(|program| Linux::of(program, Machine::Amd64)).transpose()?;
    let mut tarballs = vec![fixed.as_ref().unwrap_or(&here).pack_anywhere(shelf)?];
    if let Some(path) = &programs.arm {
        let arm = Linux::of(Program::foreign(path, here.program())?, Machine::Arm64)?;
        arm.pack_installed(shelf, &work)?;
        tarballs.push(arm.pack_anywhere(shelf)?);
    }
    shelf.put("homebrew/plimsoll.rb", homebrew(&tarballs, shelf.release).as_bytes())?;
    match &fixed {
        Some(fixed) => pack_image(fixed.program().bytes(), shelf)?,
        None => shelf.lacking.push("a static program, and so the image: give --static".to_owned()),
    }
    if let Some(windows) = &programs.windows {
        pack_windows(windows, here.program(), &work, shelf)?;
    }
    shelf.put("LICENCES.txt", shelf.licences.as_bytes())?;
    let bill = sbom::bill(shelf.release, programs::HERE)?;
    shelf.put(&format!("plimsoll-{}.cdx.json", shelf.release.semantic()), bill.as_bytes())
}

/// Packs the static program, and an image that contains only it.
fn pack_image(program: &[u8], shelf: &Shelf<'_>) -> Result<(), Failure> {
    shelf.put("plimsoll", program)?;
    let image = oci::image(program, &shelf.licences, shelf.release)?;
    shelf.put(&oci::name(shelf.release), &image)
}

fn pack_windows(
    windows: &Path,
    linux: &Program,
    work: &Path,
    shelf: &mut Shelf<'_>,
) -> Result<(), Failure> {
    let bytes = fs::read(windows).map_err(Failure::of)?;
    shelf.put("plimsoll.exe", &bytes)?;
    let zip = windows::zipped(&bytes, linux, &shelf.licences, shelf.release)?;
    let zip = shelf.asset(&windows::zip_name(shelf.release), &zip)?;
    let file = shelf.output.join(windows::msi_name(shelf.release));
    let is_made = windows::installer(&bytes, shelf.release, &work.join("msi"), &file)?;
    let code = windows::product_code(&bytes, shelf.release)?;
    let msi = if is_made {
        let bytes = fs::read(&file).map_err(Failure::of)?;
        Some(shelf.asset(&windows::msi_name(shelf.release), &bytes)?)
    } else {
        shelf.lacking.push("the installer for Windows: apt-get install wixl msitools".to_owned());
        None
    };
    let msi = msi.as_ref().map(|msi| (msi, code.as_str()));
    for (path, _, bytes) in manifests::windows(&zip, msi, shelf.release)?.files() {
        shelf.put(path, bytes)?;
    }
    Ok(())
}

impl Shelf<'_> {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.output.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(Failure::of)?;
        fs::write(&path, bytes)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        println!("{:>12} {name}", bytes.len());
        Ok(())
    }

    /// Writes a file that manifests will refer to.
    fn asset(&self, name: &str, bytes: &[u8]) -> Result<Asset, Failure> {
        self.put(name, bytes)?;
        Ok(Asset { name: name.to_owned(), sha256: digest::sha256(bytes)? })
    }
}

/// Writes the SHA-256 of every file, in the format of `sha256sum -c`.
fn checksums(folder: &Path) -> Result<(), Failure> {
    let find = "find . -type f ! -name SHA256SUMS -printf '%P\\0' | LC_ALL=C sort -z | \
                xargs -0 sha256sum > SHA256SUMS";
    let status = shell::command(&["sh", "-c", find]).current_dir(folder).status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("sha256sum failed"))
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn options_are_read_and_what_is_none_is_refused() {
        let order = Order::of(&["--binary", "a", "--address", "https://x/", "--try"]).unwrap();
        assert_eq!(order.binary.unwrap().display().to_string(), "a");
        assert_eq!(order.address, "https://x");
        assert!(order.is_tried);
        for words in [&["--binary"][..], &["--bin", "x"]] {
            assert!(Order::of(words).is_err(), "{words:?}");
        }
    }
}
