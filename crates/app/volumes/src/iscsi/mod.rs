//! `iscsi`: plans, creates, grows and removes LUNs for mail servers.

mod answer;
mod apply;
mod backing;
mod destroy;
pub(crate) mod flags;
mod grow;
mod pattern;
mod plan;
mod rules;
mod scripts;
mod store;
mod strangers;
mod tgtd;
mod verify;
mod work;

use std::path::Path;

use ::plan::LunDocument;
use luns::{LunDesign, Numbers};
use provision::Provision;

use console::Console;
use console::Outcome;
use console::documents::{read_deployment, read_text};
use console::error::CommandError;
use designs::plan::flags::ArrayKind;
use designs::plan::laid_out;
use flags::{IscsiAction, IscsiFlags};

/// Runs the requested action.
pub(crate) fn run(flags: &IscsiFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match &flags.action {
        IscsiAction::Plan(flags) => plan::run(flags, console),
        IscsiAction::Apply(flags) => apply::run(flags, console),
        IscsiAction::Verify(flags) => verify::run(flags, console),
        IscsiAction::Grow(flags) => grow::run(flags, console),
        IscsiAction::Destroy(flags) => destroy::run(flags, console),
    }
}

/// A document as read.
struct Wish {
    document: LunDocument,
    provision: Option<Provision>,
}

impl Wish {
    /// Reads a document, and the deployment that it names, which is next to it.
    fn read(path: &Path) -> Result<Self, CommandError> {
        let (file, text) = read_text(path)?;
        let document = LunDocument::parse(&file, &text)?;
        let Some(source) = &document.source else {
            return Ok(Self { document, provision: None });
        };
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let deployment = read_deployment(&folder.join(&source.deployment))?;
        let array = match source.array.as_deref() {
            None => None,
            Some("vnxe3300") => Some(ArrayKind::Vnxe3300),
            Some(other) => {
                return Err(CommandError::new(format!(
                    "{file}: array: `{}` is not known; give \"vnxe3300\", or leave it out",
                    units::plain(other)
                )));
            }
        };
        let (provision, _) = laid_out(&deployment, array)?;
        Ok(Self { document, provision: Some(provision) })
    }

    /// The design, in which LUNs keep their `numbers`.
    fn design(&self, numbers: &Numbers) -> Result<LunDesign, CommandError> {
        Ok(LunDesign::of(&self.document, self.provision.as_ref(), numbers)?)
    }
}
