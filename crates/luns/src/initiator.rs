//! The other end: scripts by which a system connects to its LUNs, and what it has to do when one has
//! grown. Secrets are asked for when a script runs, and are on no command line where the system has
//! another way.

use std::fmt::{self, Write as _};

use plan::luns::Authentication;
use provision::export::{powershell_quoted, shell_quoted};

use crate::design::{LunDesign, Target};

/// What runs the initiator.
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

/// What an initiator has to do before it sees that LUNs of `target` have grown, a line each.
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

/// The secret goes from the terminal into the record of the node by a word of the shell itself.
fn open_iscsi(design: &LunDesign, target: &Target, text: &mut String) -> fmt::Result {
    let iqn = shell_quoted(&target.iqn);
    writeln!(text, "#!/bin/bash\n# Connects {} to its LUNs; run as root.", target.initiator)?;
    writeln!(text, "set -euo pipefail\numask 077")?;
    writeln!(
        text,
        "grep -qxF {} /etc/iscsi/initiatorname.iscsi || {{",
        shell_quoted(&format!("InitiatorName={}", target.initiator_iqn))
    )?;
    writeln!(
        text,
        "    echo 'the name in /etc/iscsi/initiatorname.iscsi is another' >&2; exit 1\n}}"
    )?;
    ask(design, text, "read -rsp")?;
    for portal in &design.portals {
        let address = shell_quoted(&portal.to_string());
        writeln!(text, "iscsiadm --mode discovery --type sendtargets --portal {address}")?;
        if design.authentication != Authentication::None {
            let update =
                format!("iscsiadm --mode node --targetname {iqn} --portal {address} --op update");
            writeln!(text, "{update} --name node.session.auth.authmethod --value CHAP")?;
            writeln!(
                text,
                "for record in /etc/iscsi/nodes/{iqn}/{},*/default; do",
                shell_quoted(&format!("{},{}", portal.ip(), portal.port()))
            )?;
            writeln!(
                text,
                "    sed -i '/^node\\.session\\.auth\\.\\(username\\|password\\)/d' \"$record\""
            )?;
            writeln!(
                text,
                "    printf 'node.session.auth.username = %s\\nnode.session.auth.password = %s\\n' {} \"$secret\" >> \"$record\"",
                shell_quoted(&target.account)
            )?;
            if design.authentication == Authentication::Mutual {
                writeln!(
                    text,
                    "    printf 'node.session.auth.username_in = %s\\nnode.session.auth.password_in = %s\\n' {} \"$target_secret\" >> \"$record\"",
                    shell_quoted(&target.own_account)
                )?;
            }
            writeln!(text, "done")?;
        }
        writeln!(
            text,
            "iscsiadm --mode node --targetname {iqn} --portal {address} --op update --name node.startup --value automatic"
        )?;
        writeln!(text, "iscsiadm --mode node --targetname {iqn} --portal {address} --login")?;
    }
    Ok(())
}

/// Asks for the secrets, which go into variables of the shell.
fn ask(design: &LunDesign, text: &mut String, read: &str) -> fmt::Result {
    if design.authentication != Authentication::None {
        writeln!(text, "{read} 'secret of the initiator: ' secret; echo")?;
    }
    if design.authentication == Authentication::Mutual {
        writeln!(text, "{read} 'secret of the target: ' target_secret; echo")?;
    }
    Ok(())
}

fn esxi(design: &LunDesign, target: &Target, text: &mut String) -> fmt::Result {
    writeln!(
        text,
        "#!/bin/sh\n# Connects {} to its LUNs. esxcli takes secrets on its command line only: let nobody",
        target.initiator
    )?;
    writeln!(text, "# else be logged in meanwhile. Usage: sh SCRIPT vmhba64\nset -eu\nadapter=$1")?;
    writeln!(text, "esxcli iscsi software set --enabled=true")?;
    let name = shell_quoted(&target.initiator_iqn);
    writeln!(text, "esxcli iscsi adapter set --adapter=\"$adapter\" --name={name}")?;
    ask(design, text, "read -rsp")?;
    for portal in &design.portals {
        let address = shell_quoted(&portal.to_string());
        writeln!(
            text,
            "esxcli iscsi adapter discovery sendtarget add --adapter=\"$adapter\" --address={address}"
        )?;
        if design.authentication == Authentication::None {
            continue;
        }
        let chap = format!(
            "esxcli iscsi adapter discovery sendtarget auth chap set --adapter=\"$adapter\" --address={address}"
        );
        let account = shell_quoted(&target.account);
        writeln!(
            text,
            "{chap} --direction=uni --level=required --authname={account} --secret=\"$secret\""
        )?;
        if design.authentication == Authentication::Mutual {
            let own = shell_quoted(&target.own_account);
            writeln!(
                text,
                "{chap} --direction=mutual --level=required --authname={own} --secret=\"$target_secret\""
            )?;
        }
    }
    writeln!(text, "esxcli storage core adapter rescan --adapter=\"$adapter\"")
}

fn windows(design: &LunDesign, target: &Target, text: &mut String) -> fmt::Result {
    writeln!(text, "# Connects {} to its LUNs; run as administrator.", target.initiator)?;
    writeln!(text, "$ErrorActionPreference = 'Stop'")?;
    writeln!(
        text,
        "Set-Service -Name MSiSCSI -StartupType Automatic\nStart-Service -Name MSiSCSI"
    )?;
    let name = powershell_quoted(&target.initiator_iqn);
    writeln!(
        text,
        "if ((Get-InitiatorPort | Where-Object ConnectionType -eq iSCSI).NodeAddress -notcontains {name}) {{"
    )?;
    writeln!(text, "    throw 'this system calls itself otherwise'\n}}")?;
    let mut chap = String::new();
    if design.authentication != Authentication::None {
        writeln!(text, "function Ask($what) {{\n    $entered = Read-Host -AsSecureString $what")?;
        writeln!(
            text,
            "    (New-Object System.Management.Automation.PSCredential('x', $entered)).GetNetworkCredential().Password\n}}"
        )?;
        writeln!(text, "$secret = Ask 'secret of the initiator'")?;
        let account = powershell_quoted(&target.account);
        write!(
            chap,
            " -AuthenticationType ONEWAYCHAP -ChapUsername {account} -ChapSecret $secret"
        )?;
    }
    if design.authentication == Authentication::Mutual {
        writeln!(text, "Set-IscsiChapSecret -ChapSecret (Ask 'secret of the target')")?;
        chap = chap.replace("ONEWAYCHAP", "MUTUALCHAP");
    }
    let iqn = powershell_quoted(&target.iqn);
    for portal in &design.portals {
        let (address, port) = (powershell_quoted(&portal.ip().to_string()), portal.port());
        writeln!(
            text,
            "New-IscsiTargetPortal -TargetPortalAddress {address} -TargetPortalPortNumber {port} | Out-Null"
        )?;
    }
    let multipath = if design.portals.len() > 1 { " -IsMultipathEnabled $true" } else { "" };
    for portal in &design.portals {
        let (address, port) = (powershell_quoted(&portal.ip().to_string()), portal.port());
        writeln!(
            text,
            "Connect-IscsiTarget -NodeAddress {iqn} -TargetPortalAddress {address} -TargetPortalPortNumber {port}{chap} -IsPersistent $true{multipath} | Out-Null"
        )?;
    }
    Ok(())
}
