//! The section of a served cache for initiators of iSCSI.

use crate::keys::Keys;

/// Where and to whom a cache serves its volumes over iSCSI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheIscsi {
    /// Addresses of initiators, `HOST:PORT`; at least one.
    pub listen: Vec<String>,
    /// Begin of the names of targets; none: one made of the host's.
    pub name: Option<String>,
    /// The account that initiators log in with; none: every initiator is let in.
    pub user: Option<String>,
    /// File of the secrets; none: they are in the environment.
    pub secrets: Option<String>,
    /// `true` if other machines may be let in.
    pub is_network_allowed: bool,
}

/// Reads the section, if there is one.
pub(super) fn read(root: &mut Keys<'_, '_>) -> Option<CacheIscsi> {
    if !root.has("iscsi") {
        return None;
    }
    let mut keys = root.below("iscsi");
    let section = CacheIscsi {
        listen: super::texts(&mut keys, "listen"),
        name: super::text(&mut keys, "name"),
        user: super::text(&mut keys, "user"),
        secrets: super::text(&mut keys, "secrets"),
        is_network_allowed: keys.flag("network", false),
    };
    if section.listen.is_empty() {
        keys.missing("listen", "`listen = [\"127.0.0.1:3260\"]` to [iscsi]");
    }
    if section.secrets.is_some() && section.user.is_none() {
        keys.missing("user", "`user = \"NAME\"`, whose secrets these are, to [iscsi]");
    }
    keys.finish();
    Some(section)
}
