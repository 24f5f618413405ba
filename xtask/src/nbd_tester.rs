//! nbd-tester-client, the tester that comes with NBD's reference implementation: fetches and builds
//! it for the end-to-end tests of the flash cache.

use std::fs;
use std::path::Path;

use xtask::failure::Failure;
use xtask::shell;

use crate::steps;

const SOURCE: &str = "https://github.com/NetworkBlockDevice/nbd";

/// The output of its configure script, reduced to what the tester needs.
const CONFIG: &str = "\
#define _GNU_SOURCE 1
#define HAVE_MKSTEMP 1
#define SIZEOF_UNSIGNED_INT 4
#define SIZEOF_UNSIGNED_LONG_INT 8
#define SIZEOF_UNSIGNED_SHORT_INT 2
#define SIZEOF_UNSIGNED_LONG_LONG_INT 8
#define HAVE_SYS_MOUNT_H 1
";

/// Runs the tests that use the tester; reports a skip if it cannot be fetched or built.
pub(crate) fn run() -> Result<(), Failure> {
    let folder = shell::root().join("target/nbd-tester");
    if let Err(failure) = make(&folder) {
        println!("skipped: no nbd-tester-client: {failure}");
        println!("  it needs git, a network once, a C compiler and libglib2.0-dev");
        return Ok(());
    }
    let folder = folder.display().to_string();
    steps::program_tests("end_to_end", " cached::tester", &[("PLIMSOLL_NBD_TESTER", &folder)])
}

/// Fetches the tester if it is missing, and builds it.
fn make(folder: &Path) -> Result<(), Failure> {
    let path = folder.display().to_string();
    if !folder.exists() {
        shell::run(&["git", "clone", "--quiet", "--depth", "1", SOURCE, &path])?;
    }
    fs::write(folder.join("config.h"), CONFIG).map_err(Failure::of)?;
    let build = format!(
        "cd '{path}' && cc -O1 -w -I. $(pkg-config --cflags glib-2.0) -o nbd-tester-client \
         tests/run/nbd-tester-client.c cliserv.c $(pkg-config --libs glib-2.0)"
    );
    shell::run(&["sh", "-c", &build])
}
