//! applicationHost.config: the folders of the virtual directories, and limits by location.

use roxmltree::Node;

use crate::config::ConfigFile;
use crate::error::ConfigError;
use crate::setting_kind::SettingKind;

/// An application of IIS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedApplication {
    /// Its site.
    pub site: String,
    /// Its path within the site; `/` is the site itself.
    pub path: String,
    /// The pool whose processes run it.
    pub pool: String,
    /// Its folder as a Windows path.
    pub folder: String,
}

/// All applications of `host`.
pub fn hosted_applications(host: &ConfigFile) -> Result<Vec<HostedApplication>, ConfigError> {
    let document = host.document()?;
    let root = [document.root_element()];
    let mut found = Vec::new();
    for site in host.below(&root, &["system.applicationHost", "sites", "site"])? {
        let name = site.attribute("name").unwrap_or("");
        for application in host.below(&[site], &["application"])? {
            let folder = host
                .below(&[application], &["virtualDirectory"])?
                .into_iter()
                .find(|folder| folder.attribute("path") == Some("/"));
            found.push(HostedApplication {
                site: name.to_owned(),
                path: attribute(application, "path"),
                pool: attribute(application, "applicationPool"),
                folder: folder.map_or_else(String::new, |node| attribute(node, "physicalPath")),
            });
        }
    }
    Ok(found)
}

fn attribute(node: Node<'_, '_>, name: &str) -> String {
    node.attribute(name).unwrap_or("").to_owned()
}

/// The `maxAllowedContentLength` that `host` sets for the path `location`, such as `Default Web
/// Site/owa`, and its line; the nearest of the covering locations decides.
pub(crate) fn content_length(
    host: &ConfigFile,
    location: &str,
) -> Result<Option<(u64, u32)>, ConfigError> {
    let document = host.document()?;
    let root = document.root_element();
    let mut nearest: Option<(usize, (u64, u32))> = None;
    let locations = root.children().filter(|node| node.tag_name().name() == "location");
    for scope in std::iter::once(root).chain(locations) {
        let path = scope.attribute("path").unwrap_or("");
        if !covers(path, location) {
            continue;
        }
        let section = ["system.webServer", "security", "requestFiltering", "requestLimits"];
        let Some(limits) = host.one_below(&[scope], &section)? else {
            continue;
        };
        let kind = SettingKind::ContentLength;
        let Some(written) = limits.attribute(kind.name()) else {
            continue;
        };
        let line = ConfigFile::line(limits);
        let number = written.parse().map_err(|_| ConfigError::NoNumber {
            file: host.name().to_owned(),
            line,
            setting: kind.name(),
            found: written.to_owned(),
        })?;
        if nearest.is_none_or(|(length, _)| path.len() >= length) {
            nearest = Some((path.len(), (number, line)));
        }
    }
    Ok(nearest.map(|(_, found)| found))
}

/// Whether `path` is `location` or above it; IIS ignores case.
pub(crate) fn covers(path: &str, location: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let location = location.to_ascii_lowercase();
    match location.strip_prefix(path.as_str()) {
        Some(rest) => path.is_empty() || rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_location_covers_what_lies_below_it() {
        assert!(covers("", "Default Web Site/owa"));
        assert!(covers("default web site", "Default Web Site/owa"));
        assert!(covers("Default Web Site/OWA", "Default Web Site/owa"));
        assert!(!covers("Default Web Site/ow", "Default Web Site/owa"));
        assert!(!covers("Default Web Site/owa/auth", "Default Web Site/owa"));
    }
}
