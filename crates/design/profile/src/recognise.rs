//! Recognises the kind of file that an administrator has given.

use crate::error::ProfileError;
use crate::kind::LogKind;
use crate::sheet::Sheet;

/// Returns the kind of the file `name`, according to its headers.
pub(super) fn recognise(name: &str, sheet: &Sheet<'_>) -> Result<LogKind, ProfileError> {
    if sheet.headers().is_empty() {
        return Err(ProfileError::Empty { file: name.to_owned() });
    }
    LogKind::ALL
        .into_iter()
        .find(|kind| kind.needed().iter().all(|header| sheet.has(header)))
        .ok_or_else(|| ProfileError::Unknown {
            file: name.to_owned(),
            found: sheet.headers().to_vec(),
        })
}
