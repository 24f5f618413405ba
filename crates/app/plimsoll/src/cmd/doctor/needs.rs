//! The table of external dependencies of the commands.

/// How `doctor` looks for a need.
pub(super) enum Thing {
    /// One of these programs, on the path or in their usual places.
    Program(&'static [&'static str]),
    /// A file or folder.
    Path(&'static str),
    /// The kernel's request ring.
    Ring,
    /// Rights of root.
    Root,
    /// Certificates that this machine trusts.
    Certificates,
}

/// Something a command uses.
pub(super) struct Need {
    pub title: &'static str,
    pub purpose: &'static str,
    pub thing: Thing,
    pub commands: &'static [&'static str],
    /// `true` if the commands fail without it; otherwise they report less.
    pub is_essential: bool,
    /// Debian package; empty if no package has it, in which case `otherwise` explains what to do.
    pub debian: &'static str,
    pub fedora: &'static str,
    pub otherwise: &'static str,
}

/// Commands that measure.
const LOADS: &[&str] = &["quick", "prepare", "run", "line", "calibrate"];

/// Controllers with a tool available only from their vendor.
const VENDOR: &str = "only with such a controller: its vendor has the tool; or `inspect \
                      --controller FILE` reads an output saved elsewhere";

/// A tool that `inspect` asks about a controller.
const fn controller_tool(
    title: &'static str,
    purpose: &'static str,
    programs: &'static [&'static str],
) -> Need {
    Need {
        title,
        purpose,
        thing: Thing::Program(programs),
        commands: &["inspect"],
        is_essential: false,
        debian: "",
        fedora: "",
        otherwise: VENDOR,
    }
}

pub(super) const NEEDS: [Need; 15] = [
    Need {
        title: "io_uring",
        purpose: "requests without a thread each; else threads, which cost processor time",
        thing: Thing::Ring,
        commands: LOADS,
        is_essential: false,
        debian: "",
        fedora: "",
        otherwise: "kernel 5.11 or newer; sysctl kernel.io_uring_disabled=0; in a container, a \
                    seccomp profile that allows io_uring_setup",
    },
    Need {
        title: "/sys/block",
        purpose: "what disks and caches are under a folder",
        thing: Thing::Path("/sys/block"),
        commands: &["inspect", "quick", "run", "line"],
        is_essential: false,
        debian: "",
        fedora: "",
        otherwise: "mount sysfs: mount -t sysfs sysfs /sys",
    },
    Need {
        title: "root",
        purpose: "raw devices, controllers' tools, interfaces",
        thing: Thing::Root,
        commands: &["format", "scan"],
        is_essential: false,
        debian: "",
        fedora: "",
        otherwise: "run the command with sudo",
    },
    Need {
        title: "tgtd",
        purpose: "makes the targets of `iscsi apply`",
        thing: Thing::Program(&["tgtd", "/usr/sbin/tgtd"]),
        commands: &["iscsi"],
        is_essential: true,
        debian: "tgt",
        fedora: "scsi-target-utils",
        otherwise: "",
    },
    Need {
        title: "tgtadm",
        purpose: "runs the commands that `iscsi plan` prints",
        thing: Thing::Program(&["tgtadm", "/usr/sbin/tgtadm"]),
        commands: &["iscsi"],
        is_essential: false,
        debian: "tgt",
        fedora: "scsi-target-utils",
        otherwise: "",
    },
    controller_tool(
        "storcli or perccli",
        "cache and battery of Broadcom and Dell controllers",
        &[
            "storcli64",
            "storcli",
            "perccli64",
            "perccli",
            "/opt/MegaRAID/storcli/storcli64",
            "/opt/MegaRAID/perccli/perccli64",
        ],
    ),
    controller_tool(
        "storcli2 or perccli2",
        "cache and battery of newer controllers of the same vendors",
        &[
            "storcli2",
            "perccli2",
            "/opt/MegaRAID/storcli2/storcli2",
            "/opt/MegaRAID/perccli2/perccli2",
        ],
    ),
    controller_tool(
        "ssacli",
        "cache and battery of HPE Smart Array controllers",
        &["ssacli", "hpssacli", "/opt/smartstorageadmin/ssacli/bin/ssacli"],
    ),
    controller_tool(
        "arcconf",
        "cache and battery of Adaptec and Microchip controllers",
        &["arcconf", "/usr/Arcconf/arcconf"],
    ),
    Need {
        title: "nats-server",
        purpose: "carries messages and journals of a fleet, on the host that runs `fleet up`",
        thing: Thing::Program(&["nats-server", "/usr/sbin/nats-server"]),
        commands: &["fleet"],
        is_essential: false,
        debian: "nats-server",
        fedora: "nats-server",
        otherwise: "",
    },
    Need {
        title: "mdadm",
        purpose: "makes arrays in the scripts of `plan --export`; prints what `inspect` reads",
        thing: Thing::Program(&["mdadm", "/usr/sbin/mdadm"]),
        commands: &["plan", "inspect"],
        is_essential: false,
        debian: "mdadm",
        fedora: "mdadm",
        otherwise: "",
    },
    Need {
        title: "mkfs.xfs",
        purpose: "makes file systems in the scripts of `plan --export`",
        thing: Thing::Program(&["mkfs.xfs", "/usr/sbin/mkfs.xfs"]),
        commands: &["plan"],
        is_essential: false,
        debian: "xfsprogs",
        fedora: "xfsprogs",
        otherwise: "",
    },
    Need {
        title: "nvme",
        purpose: "prints what `inspect --controller` reads, and turns caches on and off",
        thing: Thing::Program(&["nvme", "/usr/sbin/nvme"]),
        commands: &["inspect"],
        is_essential: false,
        debian: "nvme-cli",
        fedora: "nvme-cli",
        otherwise: "",
    },
    Need {
        title: "certificates",
        purpose: "trust in Microsoft 365 and in collectors of metrics",
        thing: Thing::Certificates,
        commands: &["profile", "serve"],
        is_essential: false,
        debian: "ca-certificates",
        fedora: "ca-certificates",
        otherwise: "",
    },
    Need {
        title: "man",
        purpose: "shows the manual pages",
        thing: Thing::Program(&["man"]),
        commands: &["man"],
        is_essential: false,
        debian: "man-db",
        fedora: "man-db",
        otherwise: "",
    },
];
