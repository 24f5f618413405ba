//! The examples themselves.

/// Working examples for each command, by its path below the program; the program's own come first.
pub(super) const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "plimsoll quick /mnt/mail",
            "plimsoll plan > plan.toml",
            "plimsoll prepare plan.toml && plimsoll run plan.toml",
        ],
    ),
    (
        "quick",
        &[
            "plimsoll quick /mnt/mail",
            "plimsoll quick /mnt/mail --size 20GiB --duration 10min",
            "plimsoll quick /mnt/mail --target-iops 400 --name array-a",
        ],
    ),
    ("doctor", &["plimsoll doctor", "plimsoll doctor iscsi"]),
    ("logs", &["plimsoll logs run-array-a-20261124-093000"]),
    ("format", &["plimsoll format /dev/sdx", "plimsoll format nbd://10.0.0.5/mail"]),
    ("prepare", &["plimsoll prepare plan.toml"]),
    (
        "run",
        &[
            "plimsoll run plan.toml",
            "plimsoll run plan.toml --test all --name array-a --tag rack-3",
            "plimsoll run --resume run-array-a-20261124-093000",
        ],
    ),
    (
        "agent",
        &[
            "plimsoll agent --credentials agent.json --allow /mnt/db1 /mnt/db2",
            "plimsoll agent --credentials agent.json --simulate 2",
        ],
    ),
    (
        "fleet",
        &[
            "plimsoll fleet up",
            "plimsoll fleet plan > fleet.toml",
            "plimsoll fleet run fleet.toml -o dag1",
        ],
    ),
    (
        "fleet up",
        &[
            "plimsoll fleet up",
            "plimsoll fleet up --listen 10.0.0.5:4222 --tls-cert c.pem --tls-key k.pem",
        ],
    ),
    ("fleet hosts", &["plimsoll fleet hosts"]),
    ("fleet plan", &["plimsoll fleet plan > fleet.toml"]),
    ("fleet run", &["plimsoll fleet run fleet.toml -o dag1"]),
    ("fleet status", &["plimsoll fleet status"]),
    ("fleet stop", &["plimsoll fleet stop"]),
    ("fleet collect", &["plimsoll fleet collect dag1"]),
    ("fleet down", &["plimsoll fleet down"]),
    ("line", &["plimsoll line plan.toml", "plimsoll line plan.toml --step 5min -o line-array-a"]),
    (
        "simulate",
        &[
            "plimsoll simulate plan.toml --array vnxe3300",
            "plimsoll simulate plan.toml --array array.toml --what-if raid.level=5,10",
            "plimsoll simulate provision.json --array shelf-sata --event host-lost=EX01@1h",
        ],
    ),
    (
        "calibrate",
        &[
            "plimsoll calibrate /mnt/mail -o mail.toml",
            "plimsoll calibrate /mnt/mail -o mail.toml --prove --force",
        ],
    ),
    (
        "report",
        &[
            "plimsoll report run-array-a-20261124-093000 --format csv -o intervals.csv",
            "plimsoll report --vendor-template > vendor.toml",
            "plimsoll report run-* --format esrp --vendor vendor.toml -o paper.docx",
        ],
    ),
    (
        "compare",
        &[
            "plimsoll compare run-array-a run-array-b",
            "plimsoll compare run-array-a run-array-b --format html -o arrays.html",
        ],
    ),
    ("list", &["plimsoll list /srv/runs", "plimsoll list /srv/runs --tag rack-3 --json"]),
    (
        "watch",
        &[
            "plimsoll watch",
            "plimsoll watch run-array-a-20261124-093000 --json",
            "plimsoll watch --notify 'wall \"$PLIMSOLL_HEADLINE\"'",
        ],
    ),
    (
        "serve",
        &[
            "plimsoll serve /srv/runs",
            "plimsoll serve /srv/runs --listen 0.0.0.0:8437 --host lab.example.org",
            "plimsoll serve /srv/runs --otlp http://127.0.0.1:4318",
        ],
    ),
    (
        "recover",
        &[
            "plimsoll recover /mnt/mail/Plimsoll001.edb",
            "plimsoll recover mail.edb --log-folder /mnt/log --log-base E00",
        ],
    ),
    ("verify", &["plimsoll verify /mnt/mail/Plimsoll001.edb"]),
    ("check", &["plimsoll check /mnt/mail/*.edb", "plimsoll check mail.edb --json"]),
    ("header", &["plimsoll header mail.edb", "plimsoll header E00.chk"]),
    (
        "schema",
        &[
            "plimsoll schema mail.edb",
            "plimsoll schema mail.edb MSysObjects --json",
            "plimsoll schema report > report.schema.json",
        ],
    ),
    ("space", &["plimsoll space mail.edb"]),
    ("dump", &["plimsoll dump mail.edb --page 4"]),
    (
        "export",
        &[
            "plimsoll export mail.edb",
            "plimsoll export mail.edb --table Messages --format jsonl",
            "plimsoll export mail.edb --all -o tables",
        ],
    ),
    (
        "size",
        &[
            "plimsoll size deployment.toml -o sizing.html",
            "plimsoll size deployment.toml --scenarios availability.copies=2,3",
            "plimsoll size deployment.toml --prove --html proof.html",
        ],
    ),
    ("selftest", &["plimsoll selftest /mnt/mail"]),
    (
        "inspect",
        &[
            "plimsoll inspect /mnt/mail --measure",
            "plimsoll inspect --controller storcli.txt",
            "plimsoll inspect iscsi://10.0.0.5 -o portal.html",
        ],
    ),
    (
        "inspect layout",
        &[
            "plimsoll inspect layout mail/provision.json",
            "plimsoll inspect layout deployment.toml --server EX01",
        ],
    ),
    (
        "cache",
        &[
            "plimsoll cache size --trace db.blkparse",
            "plimsoll cache create /dev/nvme0n1",
            "plimsoll cache serve /dev/nvme0n1 --volume mail=/dev/sdx",
        ],
    ),
    (
        "cache create",
        &["plimsoll cache create /dev/nvme0n1", "plimsoll cache create flash.img --size 100GiB"],
    ),
    (
        "cache serve",
        &[
            "plimsoll cache serve /dev/nvme0n1 --volume mail=/dev/sdx",
            "plimsoll cache serve flash.img --volume mail=disk.img --listen unix:nbd.sock",
            "plimsoll cache serve --config /etc/plimsoll/cache.toml",
        ],
    ),
    (
        "cache status",
        &["plimsoll cache status /dev/nvme0n1", "plimsoll cache status /dev/nvme0n1 --watch"],
    ),
    ("cache drain", &["plimsoll cache drain /dev/nvme0n1"]),
    (
        "cache hand-over",
        &[
            "plimsoll cache hand-over mail right",
            "plimsoll cache hand-over mail left --server nats://10.0.0.9:4222",
        ],
    ),
    (
        "cache remove",
        &[
            "plimsoll cache remove /dev/nvme0n1 /dev/sdx",
            "plimsoll cache remove /dev/nvme0n1 --all",
        ],
    ),
    ("cache check", &["plimsoll cache check /dev/nvme0n1"]),
    (
        "iscsi",
        &[
            "plimsoll iscsi plan > luns.toml",
            "plimsoll iscsi apply luns.toml",
            "plimsoll iscsi verify luns.toml",
        ],
    ),
    ("iscsi plan", &["plimsoll iscsi plan > luns.toml", "plimsoll iscsi plan luns.toml"]),
    (
        "iscsi apply",
        &[
            "plimsoll iscsi apply luns.toml --backend print",
            "plimsoll iscsi apply luns.toml",
            "plimsoll iscsi apply luns.toml --backend open-iscsi --initiator EX01",
        ],
    ),
    (
        "iscsi verify",
        &[
            "plimsoll iscsi verify luns.toml",
            "plimsoll iscsi verify luns.toml --write -o luns.html",
        ],
    ),
    ("iscsi grow", &["plimsoll iscsi grow luns.toml"]),
    ("iscsi destroy", &["plimsoll iscsi destroy luns.toml"]),
    (
        "cache size",
        &[
            "plimsoll cache size plan.toml --array shelf-sata",
            "plimsoll cache size --trace db.blkparse",
            "plimsoll cache size --trace iolog.txt --size 100GiB --size 200GiB",
        ],
    ),
    (
        "plan",
        &[
            "plimsoll plan > plan.toml",
            "plimsoll plan deployment.toml -o mail --export all",
            "plimsoll plan deployment.toml -o rehearsal --root /tmp/mail --scale 1",
        ],
    ),
    (
        "profile",
        &[
            "plimsoll profile MSGTRK*.LOG mailboxes.csv -o deployment.toml",
            "plimsoll profile --sign-in browser --tenant contoso.com --client ID",
            "plimsoll profile perf.csv -o load.toml",
        ],
    ),
    (
        "import",
        &[
            "plimsoll import JetstressConfig.xml -o plan.toml",
            "plimsoll import Performance_2026_11_24_9_30_0.html -o published",
        ],
    ),
    (
        "builds",
        &[
            "plimsoll builds identify 15.2.1748.10",
            "plimsoll builds list 2019",
            "plimsoll builds compare '2016 CU22' '2016 CU23'",
        ],
    ),
    (
        "builds identify",
        &["plimsoll builds identify 15.2.1748.10 '2016 CU22'", "plimsoll builds identify mail.edb"],
    ),
    ("builds list", &["plimsoll builds list", "plimsoll builds list SE --json"]),
    ("builds compare", &["plimsoll builds compare '2016 CU22' '2016 CU23'"]),
    (
        "limits",
        &[
            "plimsoll limits show /srv/EX01",
            "plimsoll limits set /srv/EX01 --owa 50MiB --ews 64MiB",
        ],
    ),
    ("limits show", &["plimsoll limits show /srv/EX01", "plimsoll limits show /srv --json"]),
    (
        "limits set",
        &[
            "plimsoll limits set /srv/EX01 --owa 50MiB",
            "plimsoll limits set /srv/EX01 --owa 50MiB --activesync 20MiB --write",
        ],
    ),
    ("scan", &["plimsoll scan capture.pcapng", "plimsoll scan --interface eth0 --duration 30s"]),
    ("completions", &["plimsoll completions bash > /etc/bash_completion.d/plimsoll"]),
    ("man", &["plimsoll man run | man -l -", "plimsoll man -o /usr/local/share/man/man1"]),
];
