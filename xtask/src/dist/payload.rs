//! The files that packages install: the program, the files that it prints (manual pages,
//! completions, examples), and those in `packaging/`.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

use super::archive::gzip::compress;
use super::tree::Tree;

/// A program to be packed, without debug symbols.
pub(super) struct Program {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Program to run for pages and completions: itself, if this machine can run it.
    speaker: PathBuf,
}

/// Locations of completions and units in a family of distributions.
pub(super) struct Places {
    pub units: &'static str,
    pub zsh: &'static str,
    pub fish: &'static str,
}

/// Locations in Debian.
pub(super) const DEBIAN: Places = Places {
    units: "lib/systemd/system",
    zsh: "usr/share/zsh/vendor-completions",
    fish: "usr/share/fish/vendor_completions.d",
};

/// Locations in Fedora.
pub(super) const FEDORA: Places = Places {
    units: "usr/lib/systemd/system",
    zsh: "usr/share/zsh/site-functions",
    fish: "usr/share/fish/vendor_completions.d",
};

/// Folder of a package's documentation.
pub(super) const DOC: &str = "usr/share/doc/plimsoll";

impl Program {
    /// Strips a copy of the program at `path`, stored in `work`, and reads it.
    pub(super) fn stripped(path: &Path, work: &Path) -> Result<Self, Failure> {
        let name = path.file_name().unwrap_or_default();
        let copy = work.join(name);
        fs::create_dir_all(work).map_err(Failure::of)?;
        let (from, to) = (path.display().to_string(), copy.display().to_string());
        shell::capture(&["strip", "--strip-all", "-o", &to, &from])?;
        let bytes = fs::read(&copy).map_err(Failure::of)?;
        Ok(Self { path: copy.clone(), bytes, speaker: copy })
    }

    /// The program at `path` for another machine, already stripped; `here` is the program for this
    /// machine, which prints the pages.
    pub(super) fn foreign(path: &Path, here: &Self) -> Result<Self, Failure> {
        let bytes =
            fs::read(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        Ok(Self { path: path.to_owned(), bytes, speaker: here.path.clone() })
    }

    /// Path of the stripped copy.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the program's output for these arguments.
    pub(super) fn says(&self, words: &[&str]) -> Result<String, Failure> {
        let speaker = self.speaker.display().to_string();
        shell::capture(&[&[speaker.as_str()], words].concat())
    }
}

/// All files that a system package installs.
pub(super) fn installed(
    program: &Program,
    licences: &str,
    places: &Places,
) -> Result<Tree, Failure> {
    let mut tree = Tree::default();
    tree.file("usr/bin/plimsoll", 0o755, program.bytes.clone());
    manual(program, &mut tree)?;
    completions(program, places, &mut tree)?;
    tree.file(&format!("{}/plimsoll.service", places.units), 0o644, packaged("plimsoll.service")?);
    tree.folder("var/lib/plimsoll", 0o755, 0);
    tree.file(&format!("{DOC}/LICENCES.txt.gz"), 0o644, compress(licences.as_bytes())?);
    documents(program, DOC, &mut tree)?;
    Ok(tree)
}

/// Adds the README and the examples below `folder`.
pub(super) fn documents(program: &Program, folder: &str, tree: &mut Tree) -> Result<(), Failure> {
    let mut add = |name: &str, bytes| tree.file(&format!("{folder}/{name}"), 0o644, bytes);
    add("README.md", read("README.md")?);
    add("examples/plan.toml", program.says(&["plan"])?.into_bytes());
    add("examples/deployment.toml", program.says(&["size", "--example"])?.into_bytes());
    add("examples/prometheus/plimsoll.rules.yml", packaged("prometheus/plimsoll.rules.yml")?);
    add("examples/grafana/plimsoll.json", packaged("grafana/plimsoll.json")?);
    let mut arrays: Vec<PathBuf> = fs::read_dir(shell::root().join("arrays"))
        .map_err(Failure::of)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    arrays.sort();
    for array in arrays {
        let name = array.file_name().unwrap_or_default().to_string_lossy().into_owned();
        add(&format!("examples/arrays/{name}"), fs::read(&array).map_err(Failure::of)?);
    }
    Ok(())
}

fn manual(program: &Program, tree: &mut Tree) -> Result<(), Failure> {
    let folder = program.speaker.with_extension("man");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(Failure::of)?;
    program.says(&["man", "-o", &folder.display().to_string()])?;
    for entry in fs::read_dir(&folder).map_err(Failure::of)?.flatten() {
        let page = compress(&fs::read(entry.path()).map_err(Failure::of)?)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        tree.file(&format!("usr/share/man/man1/{name}.gz"), 0o644, page);
    }
    Ok(())
}

fn completions(program: &Program, places: &Places, tree: &mut Tree) -> Result<(), Failure> {
    let files = [
        ("bash", "usr/share/bash-completion/completions/plimsoll".to_owned()),
        ("zsh", format!("{}/_plimsoll", places.zsh)),
        ("fish", format!("{}/plimsoll.fish", places.fish)),
    ];
    for (shell, path) in files {
        tree.file(&path, 0o644, program.says(&["completions", shell])?.into_bytes());
    }
    Ok(())
}

/// Reads a file of `packaging/`.
pub(super) fn packaged(name: &str) -> Result<Vec<u8>, Failure> {
    read(&format!("packaging/{name}"))
}

/// Reads a file of the repository.
pub(super) fn read(name: &str) -> Result<Vec<u8>, Failure> {
    let path = shell::root().join(name);
    fs::read(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use xtask::shell;

    /// Maximum exposure of the service, as rated by systemd in tenths: 100 is an unrestricted
    /// service that runs as root.
    const MOST_EXPOSED: &str = "--threshold=20";

    #[test]
    fn the_service_may_do_little() {
        if !shell::installed("systemd-analyze") {
            println!("skipped: no systemd-analyze");
            return;
        }
        let unit = "packaging/plimsoll.service";
        let words = ["systemd-analyze", "security", "--offline=true", MOST_EXPOSED, unit];
        shell::capture(&words).unwrap();
    }
}
