//! The settings of the server: a document, or flags as its short form.

use std::path::{Path, PathBuf};

use plan::{CacheTls, ServedCache, ServedVolume, volume_name_fault};
use units::Bytes;

use super::control;
use super::iscsi::settings::{self as iscsi, IscsiSettings};
use super::socket::ListenAddress;
use crate::cache::flags::CacheServeFlags;
use console::documents::read_text;
use console::error::CommandError;

/// Memory for requests in progress without a document.
const MEMORY: Bytes = Bytes::from_mib(256);

/// Default limit on concurrent clients, without a document.
const CONNECTIONS: usize = 64;

/// See the module.
pub(super) struct CacheServeSettings {
    pub document: ServedCache,
    pub addresses: Vec<ListenAddress>,
    pub control: PathBuf,
    pub iscsi: Option<IscsiSettings>,
    file: Option<PathBuf>,
}

impl CacheServeSettings {
    /// Reads the document that the flags name, or takes the flags for one.
    pub(super) fn read(flags: &CacheServeFlags) -> Result<Self, CommandError> {
        let document = match &flags.config {
            Some(file) => read(file)?,
            None => from_flags(flags)?,
        };
        let mut addresses = Vec::new();
        for text in &document.listen {
            addresses.push(ListenAddress::parse(text, document.tls.is_some())?);
        }
        let control = match &document.control {
            Some(path) => PathBuf::from(path),
            None => control::path_of(Path::new(&document.flash)),
        };
        if let Some(metrics) = &document.metrics {
            match ListenAddress::parse(metrics, false)? {
                ListenAddress::Tcp(_) => {}
                ListenAddress::Unix(_) => {
                    return Err(CommandError::new(format!(
                        "{metrics}: metrics are served over HTTP; give an address such as \
                         127.0.0.1:9811"
                    )));
                }
            }
        }
        let iscsi = document.iscsi.as_ref().map(IscsiSettings::of).transpose()?;
        Ok(Self { document, addresses, control, iscsi, file: flags.config.clone() })
    }

    /// Rereads the document; `None` if there is none.
    pub(super) fn read_again(&self) -> Result<Option<ServedCache>, CommandError> {
        self.file.as_ref().map(|file| read(file)).transpose()
    }
}

fn read(file: &Path) -> Result<ServedCache, CommandError> {
    let (name, text) = read_text(file)?;
    Ok(ServedCache::parse(&name, &text)?)
}

fn from_flags(flags: &CacheServeFlags) -> Result<ServedCache, CommandError> {
    let mut volumes: Vec<ServedVolume> = Vec::new();
    for text in &flags.volume {
        let Some((name, device)) = text.split_once('=').filter(|(_, device)| !device.is_empty())
        else {
            return Err(CommandError::usage(format!(
                "--volume {text}: give a name and a device, such as mail=/dev/sdx"
            )));
        };
        if let Some(fault) = volume_name_fault(name) {
            return Err(CommandError::usage(format!("--volume {text}: the name {fault}")));
        }
        if volumes.iter().any(|volume| volume.name == name) {
            let text = format!("--volume {text}: the name is taken; give each volume its own");
            return Err(CommandError::usage(text));
        }
        volumes.push(ServedVolume {
            name: name.to_owned(),
            device: device.to_owned(),
            is_read_only: flags.read_only,
            least: None,
            most: None,
            vhost_user: None,
        });
    }
    for text in &flags.vhost_user {
        *socket_of(text, &mut volumes)? = text.split_once('=').map(|(_, path)| path.to_owned());
    }
    let flash = flags.flash.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let listen = match flags.listen.as_slice() {
        [] => vec!["127.0.0.1:10809".to_owned()],
        listen => listen.to_vec(),
    };
    Ok(ServedCache {
        flash,
        listen,
        control: flags.control.as_ref().map(|path| path.display().to_string()),
        metrics: flags.metrics.clone(),
        write_budget: flags.write_budget,
        iscsi: iscsi::from_flags(flags),
        tls: tls_of(flags),
        memory: MEMORY,
        connections: CONNECTIONS,
        volumes,
    })
}

/// The setting that `text` gives, `NAME=PATH`.
fn socket_of<'a>(
    text: &str,
    volumes: &'a mut [ServedVolume],
) -> Result<&'a mut Option<String>, CommandError> {
    let name = text.split_once('=').filter(|(_, path)| !path.is_empty()).map(|(name, _)| name);
    let volume = volumes.iter_mut().find(|volume| Some(volume.name.as_str()) == name);
    volume.map(|volume| &mut volume.vhost_user).ok_or_else(|| {
        CommandError::usage(format!(
            "--vhost-user {text}: give a volume of --volume and a path, such as \
             mail=/run/plimsoll/mail.sock"
        ))
    })
}

fn tls_of(flags: &CacheServeFlags) -> Option<CacheTls> {
    let certificate = flags.tls_cert.as_ref()?.display().to_string();
    let key = flags.tls_key.as_ref()?.display().to_string();
    let client_ca = flags.tls_client_ca.as_ref()?.display().to_string();
    Some(CacheTls { certificate, key, client_ca })
}
