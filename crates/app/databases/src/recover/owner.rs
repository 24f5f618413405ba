//! Determines the owner of a database: recovery rewrites header, log and flush map in this
//! program's own forms, which destroys a database of another engine.

use std::path::Path;
use std::rc::Rc;

use device::Volume;
use device_os::World;
use engine::DatabaseFiles;
use ese::header::DatabaseHeader;
use trial::manifest::Manifest;
use wal::{LogChain, LogFolder};

use console::error::CommandError;

/// Refuses a database unless its manifest or its log proves that this program created it.
pub(super) fn require_ours(
    world: &World,
    path: &Path,
    header: &DatabaseHeader,
    manifest: Option<&Manifest>,
    files: &DatabaseFiles,
) -> Result<(), CommandError> {
    if manifest.is_some_and(|manifest| manifest.is_for(header.signature)) {
        return Ok(());
    }
    let folder = LogFolder::new(files.log.clone(), &files.log_base);
    // Recovery, which needs the whole log, reports the faults of an existing one.
    let found = world.executor().block_on(async move { LogChain::find(&folder).await });
    if let Ok(Some(chain)) = found {
        let identity = chain.identity();
        if (identity.signature, identity.database) == (header.log_signature, header.signature) {
            return Ok(());
        }
    }
    Err(CommandError::new(format!(
        "{}: {}, and neither a manifest beside it nor the log {} in {} proves that plimsoll made \
         it, so nothing was written. Where that is not the folder of its log, name the right one \
         with --log-folder; of a database of Exchange or Windows, plimsoll recover --into COPY \
         makes a recovered copy, and eseutil /r or esentutl /r recovers it where it is",
        path.display(),
        header.state,
        files.log_base,
        files.log.name(),
    )))
}

/// The base name of the only log in `folder`; `E00` if there is none.
pub(super) fn only_base(world: &World, folder: &Rc<dyn Volume>) -> Result<String, CommandError> {
    let files = world.executor().block_on(folder.list())?;
    let bases = files.iter().filter_map(|file| file.name.strip_suffix(".pck"));
    match bases.collect::<Vec<_>>().as_slice() {
        [base] => Ok((*base).to_owned()),
        // The log may exist before its first checkpoint file; the first database of a plan uses
        // this base name.
        [] => Ok("E00".to_owned()),
        bases => Err(CommandError::new(format!(
            "{}: holds the logs {}; name the one of this database with --log-base",
            folder.name(),
            bases.join(", ")
        ))),
    }
}
