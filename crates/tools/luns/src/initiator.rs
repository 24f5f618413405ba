//! The initiator's side: scripts that connect a system to its LUNs, and the steps after a LUN has
//! grown. Scripts prompt for secrets when they run, and keep them off command lines if the system
//! allows.

use std::fmt::{self, Write as _};
use std::net::SocketAddr;

use plan::luns::ChapMode;
use provision::export::{powershell_quoted, shell_quoted};

use crate::design::{LunDesign, Target};

/// System of the initiator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitiatorSystem {
    /// Linux with open-iscsi.
    OpenIscsi,
    /// `ESXi`.
    Esxi,
    /// Windows.
    Windows,
}

/// The script by which the initiator of `target` connects.
pub fn connect_script(design: &LunDesign, target: &Target, system: InitiatorSystem) -> String {
    let mut text = String::new();
    let written = match system {
        InitiatorSystem::OpenIscsi => open_iscsi(design, target, &mut text),
        InitiatorSystem::Esxi => esxi(design, target, &mut text),
        InitiatorSystem::Windows => windows(design, target, &mut text),
    };
    written.expect("invariant: writing to a string cannot fail");
    match system {
        InitiatorSystem::Windows => text.replace('\n', "\r\n"),
        InitiatorSystem::OpenIscsi | InitiatorSystem::Esxi => text,
    }
}

/// Commands, one per line, with which an initiator notices that LUNs of `target` have grown.
pub fn rescan(target: &Target) -> [String; 3] {
    let iqn = shell_quoted(&target.iqn);
    [
        format!(
            "Linux: iscsiadm --mode node --targetname {iqn} --rescan; with multipath `multipathd \
             resize map NAME`; then xfs_growfs MOUNT or resize2fs DEVICE"
        ),
        "Windows: Update-HostStorageCache; then Resize-Partition to Get-PartitionSupportedSize"
            .to_owned(),
        "ESXi: esxcli storage core adapter rescan --all; then grow the datastore".to_owned(),
    ]
}

/// Writes the script for open-iscsi. A shell builtin passes the secret from the terminal to the
/// node record, so it appears on no command line.
fn open_iscsi(design: &LunDesign, target: &Target, text: &mut String) -> fmt::Result {
    let iqn = shell_quoted(&target.iqn);
    let name = shell_quoted(&format!("InitiatorName={}", target.initiator_iqn));
    writeln!(
        text,
        "#!/bin/bash\n# Connects {} to its LUNs; run as root.\n\
         set -euo pipefail\numask 077\n\
         grep -qxF {name} /etc/iscsi/initiatorname.iscsi || {{\n    \
         echo 'the name in /etc/iscsi/initiatorname.iscsi is another' >&2; exit 1\n}}",
        target.initiator
    )?;
    ask(design, text)?;
    for portal in &design.portals {
        let address = shell_quoted(&portal.to_string());
        let node = format!("iscsiadm --mode node --targetname {iqn} --portal {address}");
        writeln!(text, "iscsiadm --mode discovery --type sendtargets --portal {address}")?;
        if design.authentication != ChapMode::None {
            let method = "--name node.session.auth.authmethod --value CHAP";
            writeln!(text, "{node} --op update {method}")?;
            let place = shell_quoted(&format!("{},{}", portal.ip(), portal.port()));
            records(design, target, &format!("{iqn}/{place}"), text)?;
        }
        writeln!(text, "{node} --op update --name node.startup --value automatic")?;
        // Exit status 15: the session already exists.
        writeln!(text, "{node} --login || [ $? -eq 15 ]")?;
    }
    Ok(())
}

/// Writes the secrets into the node records, which only their owner can read.
fn records(design: &LunDesign, target: &Target, place: &str, text: &mut String) -> fmt::Result {
    let old = r"/^node\.session\.auth\.\(username\|password\)/d";
    writeln!(text, "for record in /etc/iscsi/nodes/{place},*/default; do")?;
    writeln!(text, "    sed -i '{old}' \"$record\"")?;
    let mut pairs = vec![("", &target.account, "$secret")];
    if design.authentication == ChapMode::Mutual {
        pairs.push(("_in", &target.own_account, "$target_secret"));
    }
    for (end, account, secret) in pairs {
        let account = shell_quoted(account);
        let [user, password] = ["username", "password"].map(|key| format!("{key}{end}"));
        writeln!(
            text,
            "    printf 'node.session.auth.{user} = %s\\nnode.session.auth.{password} = %s\\n' \
             {account} \"{secret}\" >> \"$record\""
        )?;
    }
    writeln!(text, "done")
}

/// Prompts for the secrets and keeps them in shell variables.
fn ask(design: &LunDesign, text: &mut String) -> fmt::Result {
    if design.authentication != ChapMode::None {
        writeln!(text, "read -rsp 'secret of the initiator: ' secret; echo")?;
    }
    if design.authentication == ChapMode::Mutual {
        writeln!(text, "read -rsp 'secret of the target: ' target_secret; echo")?;
    }
    Ok(())
}

fn esxi(design: &LunDesign, target: &Target, text: &mut String) -> fmt::Result {
    let name = shell_quoted(&target.initiator_iqn);
    writeln!(
        text,
        "#!/bin/sh\n# Connects {} to its LUNs. esxcli takes secrets on its command line\n\
         # only: have no other user logged in meanwhile. Usage: sh SCRIPT vmhba64\n\
         set -eu\nadapter=$1\n\
         esxcli iscsi software set --enabled=true\n\
         esxcli iscsi adapter set --adapter=\"$adapter\" --name={name}",
        target.initiator
    )?;
    ask(design, text)?;
    for portal in &design.portals {
        let place =
            format!("--adapter=\"$adapter\" --address={}", shell_quoted(&portal.to_string()));
        let discovery = "esxcli iscsi adapter discovery sendtarget";
        let address = shell_quoted(&portal.to_string());
        writeln!(
            text,
            "{discovery} list --adapter=\"$adapter\" | grep -qwF {address} ||\n    \
             {discovery} add {place}"
        )?;
        if design.authentication == ChapMode::None {
            continue;
        }
        let chap = format!("{discovery} auth chap set {place} --level=required");
        let account = shell_quoted(&target.account);
        writeln!(text, "{chap} --direction=uni --authname={account} --secret=\"$secret\"")?;
        if design.authentication == ChapMode::Mutual {
            let (own, secret) = (shell_quoted(&target.own_account), "\"$target_secret\"");
            writeln!(text, "{chap} --direction=mutual --authname={own} --secret={secret}")?;
        }
    }
    writeln!(text, "esxcli storage core adapter rescan --adapter=\"$adapter\"")
}

/// PowerShell function that prompts for a secret without echoing it.
const ASK: &str = "function Ask($what) {\n    \
                   $entered = Read-Host -AsSecureString $what\n    \
                   $secret = [Net.NetworkCredential]::new('', $entered)\n    \
                   $secret.Password\n}\n\
                   $secret = Ask 'secret of the initiator'";

fn windows(design: &LunDesign, target: &Target, text: &mut String) -> fmt::Result {
    let name = powershell_quoted(&target.initiator_iqn);
    writeln!(
        text,
        "# Connects {} to its LUNs; run as administrator.\n\
         $ErrorActionPreference = 'Stop'\n\
         Set-Service -Name MSiSCSI -StartupType Automatic\n\
         Start-Service -Name MSiSCSI\n\
         $ports = Get-InitiatorPort | Where-Object ConnectionType -eq iSCSI\n\
         if ($ports.NodeAddress -notcontains {name}) {{\n    \
         throw 'this system calls itself otherwise'\n}}",
        target.initiator
    )?;
    let account = powershell_quoted(&target.account);
    let chap = format!("CHAP -ChapUsername {account} -ChapSecret $secret");
    let chap = match design.authentication {
        ChapMode::None => String::new(),
        ChapMode::OneWay => format!(" -AuthenticationType ONEWAY{chap}"),
        ChapMode::Mutual => format!(" -AuthenticationType MUTUAL{chap}"),
    };
    if !chap.is_empty() {
        writeln!(text, "{ASK}")?;
    }
    if design.authentication == ChapMode::Mutual {
        writeln!(text, "Set-IscsiChapSecret -ChapSecret (Ask 'secret of the target')")?;
    }
    for portal in &design.portals {
        writeln!(text, "New-IscsiTargetPortal {} | Out-Null", windows_portal(portal))?;
    }
    let multipath = if design.portals.len() > 1 { " -IsMultipathEnabled $true" } else { "" };
    let iqn = powershell_quoted(&target.iqn);
    for portal in &design.portals {
        let node = format!("-NodeAddress {iqn} {}", windows_portal(portal));
        let address = powershell_quoted(&portal.ip().to_string());
        writeln!(
            text,
            "$known = Get-IscsiTarget -NodeAddress {iqn} | Get-IscsiConnection\n\
             if ($known.TargetAddress -notcontains {address}) {{\n    \
             Connect-IscsiTarget {node}{chap} -IsPersistent $true{multipath} | Out-Null\n}}"
        )?;
    }
    Ok(())
}

fn windows_portal(portal: &SocketAddr) -> String {
    let address = powershell_quoted(&portal.ip().to_string());
    format!("-TargetPortalAddress {address} -TargetPortalPortNumber {}", portal.port())
}
