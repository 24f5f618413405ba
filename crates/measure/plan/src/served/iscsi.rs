//! The iSCSI section of a served cache.

use crate::keys::Keys;

/// Addresses, names and permitted initiators of a cache's iSCSI target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheIscsi {
    /// Addresses for initiators, `HOST:PORT`; at least one.
    pub listen: Vec<String>,
    /// Prefix of target names; `None` for one derived from the host name.
    pub name: Option<String>,
    /// Account that initiators log in with; `None` to admit every initiator.
    pub user: Option<String>,
    /// File with the secrets; `None` if they are in the environment.
    pub secrets: Option<String>,
    /// `true` if other machines may connect.
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
