//! Setup of the Windows target server, as a script of its commands that reads the secrets from
//! their file.

use std::fmt::{self, Write as _};

use plan::luns::{Allocation, ChapMode};
use provision::export::powershell_quoted;

use crate::design::{LunDesign, Target};

/// Reasons why there is no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowsFault {
    /// The design has a read-only LUN, which Windows targets do not support.
    ReadOnly {
        /// The LUN.
        lun: String,
        /// The initiator with read-only access.
        initiator: String,
    },
    /// A folder that cannot be converted to a Windows path.
    Folder {
        /// The file in it.
        file: String,
    },
}

impl fmt::Display for WindowsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly { lun, initiator } => write!(
                f,
                "{lun}: the target server of Windows cannot keep {initiator} from writing; give it \
                 no access, or use another backend"
            ),
            Self::Folder { file } => write!(
                f,
                "{file}: lies on no drive of Windows; give the [[pool]] a `folder` that begins \
                 with the drive, such as \"/D/luns\""
            ),
        }
    }
}

impl std::error::Error for WindowsFault {}

/// Beginning of every script.
const OPENING: &str = "# Makes iSCSI targets on Windows Server (feature FS-iSCSITarget-Server);\n\
                       # not tried by its makers.\n\
                       # Secrets come from the file that `plimsoll iscsi apply` keeps them in.\n\
                       param([Parameter(Mandatory = $true)] [string] $SecretFile)\n\
                       $ErrorActionPreference = 'Stop'\n\
                       $secrets = @{}\n\
                       (Get-Content -Raw -LiteralPath $SecretFile | ConvertFrom-Json).initiators | \
                       ForEach-Object { $secrets[$_.initiator] = $_ }\n\
                       function Credential($user, $secret) {\n    \
                       New-Object System.Management.Automation.PSCredential($user, \
                       (ConvertTo-SecureString $secret -AsPlainText -Force))\n}\n\n";

/// The script. It leaves existing objects unchanged.
pub fn target_script(design: &LunDesign) -> Result<String, WindowsFault> {
    for target in &design.targets {
        if let Some(lun) = target.luns.iter().find(|lun| lun.is_read_only) {
            let (lun, initiator) = (lun.name.clone(), target.initiator.clone());
            return Err(WindowsFault::ReadOnly { lun, initiator });
        }
    }
    if let Some(lun) = design.luns.iter().find(|lun| disk_path(&lun.file).is_none()) {
        return Err(WindowsFault::Folder { file: lun.file.clone() });
    }
    let mut text = String::from(OPENING);
    write(design, &mut text).expect("invariant: writing to a string cannot fail");
    Ok(text.replace('\n', "\r\n"))
}

/// Converts `/D/luns/db1.lun` to `D:\luns\db1.vhdx`: Windows targets only accept VHDX files.
fn disk_path(file: &str) -> Option<String> {
    let mut steps = file.strip_prefix('/')?.split('/');
    let drive = steps.next().filter(|drive| {
        drive.len() == 1 && drive.starts_with(|letter: char| letter.is_ascii_alphabetic())
    })?;
    let rest: Vec<&str> = steps.collect();
    let path = rest.join("\\");
    Some(format!("{drive}:\\{}.vhdx", path.strip_suffix(".lun")?))
}

fn quoted_path(file: &str) -> String {
    powershell_quoted(&disk_path(file).unwrap_or_default())
}

fn write(design: &LunDesign, text: &mut String) -> fmt::Result {
    for lun in &design.luns {
        let path = quoted_path(&lun.file);
        let fixed = if lun.allocation == Allocation::Thick { " -UseFixed" } else { "" };
        writeln!(text, "if (-not (Get-IscsiVirtualDisk | Where-Object Path -eq {path})) {{")?;
        let size = lun.size.0;
        writeln!(
            text,
            "    New-IscsiVirtualDisk -Path {path} -SizeBytes {size}{fixed} | Out-Null"
        )?;
        writeln!(text, "}}")?;
    }
    design.targets.iter().try_for_each(|target| write_target(design, target, text))
}

fn write_target(design: &LunDesign, target: &Target, text: &mut String) -> fmt::Result {
    let name = powershell_quoted(&target.initiator);
    let mut who = target
        .addresses
        .iter()
        .map(|address| powershell_quoted(&format!("IPAddress:{address}")))
        .collect::<Vec<_>>()
        .join(", ");
    if who.is_empty() {
        who = powershell_quoted(&format!("IQN:{}", target.initiator_iqn));
    }
    writeln!(text, "\nif (-not (Get-IscsiServerTarget | Where-Object TargetName -eq {name})) {{")?;
    writeln!(text, "    New-IscsiServerTarget -TargetName {name} -InitiatorIds {who} | Out-Null")?;
    writeln!(text, "}}")?;
    let iqn = powershell_quoted(&target.iqn);
    write!(text, "Set-IscsiServerTarget -TargetName {name} -TargetIqn {iqn} -InitiatorIds {who}")?;
    if design.authentication != ChapMode::None {
        write!(text, " -EnableChap $true -Chap {}", credential(&name, &target.account, "secret"))?;
    }
    if design.authentication == ChapMode::Mutual {
        let own = credential(&name, &target.own_account, "target_secret");
        write!(text, " -EnableReverseChap $true -ReverseChap {own}")?;
    }
    writeln!(text)?;
    for lun in &target.luns {
        let path = quoted_path(&lun.file);
        let number = lun.number;
        writeln!(
            text,
            "$mapped = (Get-IscsiServerTarget -TargetName {name}).LunMappings.Path\n\
             if ($mapped -notcontains {path}) {{\n    \
             Add-IscsiVirtualDiskTargetMapping -TargetName {name} -Path {path} -Lun {number}\n}}"
        )?;
    }
    Ok(())
}

/// The secret `key` of an initiator, with its account.
fn credential(initiator: &str, account: &str, key: &str) -> String {
    format!("(Credential {} $secrets[{initiator}].{key})", powershell_quoted(account))
}
