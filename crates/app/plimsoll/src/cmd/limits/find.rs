//! Finds the configuration files of servers: in an installation, on a mounted share, or collected
//! in one folder under their virtual directories' names.

use std::fs;
use std::path::{Path, PathBuf};

use limits::{APPLICATIONS, Application, ConfigFile, HostedApplication, Server, Side};

use console::error::CommandError;

/// A server and the location of its files.
pub(super) struct FoundServer {
    /// Its folder.
    pub folder: PathBuf,
    pub server: Server,
    /// Paths, in the order of `server.applications`.
    pub paths: Vec<PathBuf>,
    pub hosted: Vec<HostedApplication>,
}

/// Locations of applicationHost.config, the most probable first.
const HOST_FILES: [&str; 3] = [
    "applicationHost.config",
    "Windows/System32/inetsrv/config/applicationHost.config",
    "inetsrv/config/applicationHost.config",
];

/// The server in `folder`, or those in the folders directly below it.
pub(super) fn servers(folder: &Path) -> Result<Vec<FoundServer>, CommandError> {
    let own = server(folder)?;
    if !own.paths.is_empty() {
        return Ok(vec![own]);
    }
    let mut found = Vec::new();
    for below in folders(folder)? {
        let server = server(&below)?;
        if !server.paths.is_empty() {
            found.push(server);
        }
    }
    if found.is_empty() {
        return Err(CommandError::new(format!(
            "{}: holds no configuration files of Exchange; name the folder that Exchange is \
             installed in (V15), the drive, or a folder with files such as {}",
            folder.display(),
            APPLICATIONS[0].collected_name()
        )));
    }
    Ok(found)
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| CommandError::file(folder, "read", &error))? {
        let path = entry.map_err(|error| CommandError::file(folder, "read", &error))?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn server(folder: &Path) -> Result<FoundServer, CommandError> {
    let mut found = FoundServer {
        folder: folder.to_owned(),
        server: Server::default(),
        paths: Vec::new(),
        hosted: Vec::new(),
    };
    if let Some(path) = HOST_FILES.iter().find_map(|name| resolve(folder, name)) {
        let host = read(&path)?;
        found.hosted = limits::hosted_applications(&host)?;
        found.server.host = Some(host);
    }
    for application in APPLICATIONS {
        if let Some(path) = application_file(folder, &application, &found.hosted) {
            found.server.applications.push((application, read(&path)?));
            found.paths.push(path);
        }
    }
    for (side, collected, folder_below) in [
        (Side::FrontEnd, "DefaultWebSite_web.config", "inetpub/wwwroot/web.config"),
        (Side::BackEnd, "ExchangeBackEnd_web.config", "ClientAccess/web.config"),
    ] {
        let path = resolve(folder, collected).or_else(|| resolve(folder, folder_below));
        if let Some(path) = path {
            found.server.sites.push((side, read(&path)?));
        }
    }
    Ok(found)
}

fn application_file(
    folder: &Path,
    application: &Application,
    hosted: &[HostedApplication],
) -> Option<PathBuf> {
    resolve(folder, &application.collected_name())
        .or_else(|| below(folder, &host_of(application, hosted)?.folder))
        .or_else(|| resolve(folder, &format!("{}/web.config", application.folder)))
}

/// The host configuration's entry for the location of the application.
pub(super) fn host_of<'a>(
    application: &Application,
    hosted: &'a [HostedApplication],
) -> Option<&'a HostedApplication> {
    hosted.iter().find(|hosted| {
        hosted.site == application.side.site() && hosted.path.eq_ignore_ascii_case(application.path)
    })
}

/// Finds the file in a folder that Windows calls `windows_path`: by its whole path below the drive,
/// else by ever shorter tails of it, since any folder along the way may have been mounted.
fn below(folder: &Path, windows_path: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = windows_path.split('\\').skip(1).collect();
    (0..parts.len()).find_map(|skip| {
        let end = parts.get(skip..)?.join("/");
        resolve(folder, &format!("{end}/web.config"))
    })
}

/// `path` below `folder`, ignoring case; `None` if it is no file.
fn resolve(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut found = folder.to_owned();
    for part in path.split('/') {
        let exact = found.join(part);
        found = if exact.exists() {
            exact
        } else {
            let mut entries = fs::read_dir(&found).ok()?.flatten();
            entries.find(|entry| entry.file_name().eq_ignore_ascii_case(part))?.path()
        };
    }
    found.is_file().then_some(found)
}

fn read(path: &Path) -> Result<ConfigFile, CommandError> {
    let bytes = fs::read(path).map_err(|error| CommandError::file(path, "read", &error))?;
    Ok(ConfigFile::parse(&path.display().to_string(), &bytes)?)
}
