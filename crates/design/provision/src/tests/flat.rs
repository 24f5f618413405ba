//! Converts the flat inputs of the examples to a deployment.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value as Json;

type Inputs = BTreeMap<String, Json>;

/// The text of the deployment.
pub(crate) fn deployment(inputs: &Inputs) -> String {
    let flat = Flat(inputs);
    let product = flat.word("product").unwrap_or("2013");
    let mode = flat.word("mode").unwrap_or("compatible");
    let mut text = format!("mode = \"{mode}\"\nproduct = \"{product}\"\n");
    for number in 1..=4 {
        tier(&mut text, &flat, number);
    }
    availability(&mut text, &flat);
    rules(&mut text, &flat);
    hardware(&mut text, &flat);
    network(&mut text, &flat);
    if let Some(figures) = inputs.get("figures").and_then(Json::as_object) {
        text.push_str("[figures]\n");
        for (name, value) in figures {
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    text
}

struct Flat<'a>(&'a Inputs);

impl Flat<'_> {
    fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key)?.as_f64()
    }

    fn word(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    fn is(&self, key: &str, word: &str) -> bool {
        self.word(key) == Some(word)
    }

    fn yes(&self, key: &str) -> bool {
        self.is(key, "Yes") || self.is(key, "Enabled")
    }

    /// Writes `name = value` with the number under `key` times `factor`; nothing without a number.
    fn line(&self, text: &mut String, name: &str, key: &str, factor: f64) {
        if let Some(value) = self.number(key) {
            let _ = writeln!(text, "{name} = {}", value * factor);
        }
    }

    /// Writes `name = "value unit"`; nothing without a number under `key`.
    fn quantity(&self, text: &mut String, name: &str, key: &str, unit: &str) {
        if let Some(value) = self.number(key) {
            let _ = writeln!(text, "{name} = \"{value}{unit}\"");
        }
    }

    fn flag(&self, text: &mut String, name: &str, key: &str) {
        if self.0.contains_key(key) {
            let _ = writeln!(text, "{name} = {}", self.yes(key));
        }
    }

    /// Size and type of a disk in a site; if the site has none, those given for all disks.
    fn disk(&self, purpose: &str, site: &str) -> (String, String) {
        let either = |what: &str, all: &str| {
            let own = self.word(&format!("{purpose}_{what}_{site}"));
            let own = own.or_else(|| self.word(all)).unwrap_or("4000 GB");
            own.to_owned()
        };
        (either("disk", "all_disks_dc1_and_dc2"), either("disk_type", "all_disk_types"))
    }
}

fn tier(text: &mut String, flat: &Flat<'_>, number: usize) {
    let key = |what: &str| format!("t{number}.{what}");
    if flat.number(&key("mailboxes")).unwrap_or(0.0) <= 0.0 {
        return;
    }
    let _ = writeln!(text, "[[tier]]");
    flat.line(text, "mailboxes", &key("mailboxes"), 1.0);
    flat.line(text, "growth_percent", &key("growth"), 100.0);
    flat.line(text, "messages_per_day", &key("messages_per_day"), 1.0);
    flat.quantity(text, "average_message", &key("avg_message_kb"), "KiB");
    let whole = flat.number(&key("initial_mb")) <= flat.number(&key("limit_mb"));
    if whole {
        flat.quantity(text, "initial_size", &key("initial_mb"), "MiB");
    }
    flat.quantity(text, "size_limit", &key("limit_mb"), "MiB");
    flat.quantity(text, "archive_limit", &key("archive_limit_mb"), "MiB");
    let days = key("deleted_item_retention_days");
    flat.quantity(text, "deleted_item_retention", &days, "d");
    flat.flag(text, "single_item_recovery", &key("single_item_recovery"));
    flat.flag(text, "calendar_versions", &key("calendar_versions"));
    let users = key("multiplier_user_fraction");
    flat.line(text, "multiplier_users_percent", &users, 100.0);
    flat.line(text, "iops_multiplier", &key("io_multiplier"), 1.0);
    flat.line(text, "megacycle_multiplier", &key("cpu_multiplier"), 1.0);
    flat.flag(text, "desktop_search", &key("desktop_search"));
    if flat.is(&key("predict_iops"), "No") {
        flat.line(text, "iops", &key("iops_given"), 1.0);
        let ratio = flat.word(&key("read_write_ratio")).unwrap_or("3:2");
        let _ = writeln!(text, "read_write_ratio = \"{ratio}\"");
    }
}

fn availability(text: &mut String, flat: &Flat<'_>) {
    let _ = writeln!(text, "[availability]");
    flat.line(text, "servers_per_site", "servers_active_per_dc", 1.0);
    flat.line(text, "dags", "dags", 1.0);
    if flat.is("high_availability", "No") {
        let _ = writeln!(text, "copies = 1");
    } else {
        flat.line(text, "copies", "ha_copies", 1.0);
    }
    flat.line(text, "lagged_copies", "lagged_copies", 1.0);
    flat.quantity(text, "replay_lag", "replay_lag_h", "h");
    flat.quantity(text, "truncation_lag", "truncation_lag_h", "h");
    flat.flag(text, "replay_lag_manager", "replay_lag_manager");
    flat.flag(text, "lagged_on_own_servers", "lagged_on_dedicated_servers");
    if !flat.yes("site_resilience") || flat.is("high_availability", "No") {
        return;
    }
    let model = match flat.word("site_model") {
        Some("Active/Passive") => "active/passive",
        Some("Active/Active (Multiple DAGs)") => "active/active, groups of their own",
        _ => "active/active",
    };
    let _ = writeln!(text, "[second_site]\nmodel = \"{model}\"");
    flat.line(text, "copies", "ha_copies_in_dc2", 1.0);
    flat.line(text, "lagged_copies", "lagged_copies_in_dc2", 1.0);
    flat.quantity(text, "recovery_point", "rpo_h", "h");
    flat.flag(text, "blocks_activation", "activation_block_dc2");
    flat.flag(text, "dedicated_servers", "dedicated_dr_servers");
    flat.line(text, "cores", "cores_dc2", 1.0);
    spec_rate(text, flat, "specint2006_rate_dc2");
    let _ = writeln!(text, "[second_site.disks]");
    disks(text, flat, "dc2");
}

fn spec_rate(text: &mut String, flat: &Flat<'_>, key: &str) {
    if flat.number(key).is_some_and(|rate| rate > 0.0) {
        flat.line(text, "spec_rate", key, 1.0);
    }
}

fn rules(text: &mut String, flat: &Flat<'_>) {
    let _ = writeln!(text, "[data]");
    flat.line(text, "overhead_percent", "data_overhead", 100.0);
    flat.line(text, "moves_per_week_percent", "mailbox_moves_per_week", 100.0);
    flat.flag(text, "restore_volume", "restore_volume");
    flat.line(text, "volume_free_space_percent", "volume_free_space", 100.0);
    flat.line(text, "work_days", "work_week_days", 1.0);
    flat.flag(text, "symmetrical", "db_count_symmetrical");
    if flat.is("db_size_mode", "Custom") {
        flat.quantity(text, "largest_database", "db_size_custom_gb", "GiB");
    }
    if flat.is("db_count_automatic", "No") {
        flat.line(text, "databases", "db_count_custom", 1.0);
    }
    let _ = writeln!(text, "[io]");
    flat.line(text, "overhead_percent", "io_overhead", 100.0);
    flat.line(text, "additional_iops", "additional_iops", 1.0);
    let _ = writeln!(text, "[transport]");
    flat.quantity(text, "queue_expiration", "queue_expiration_days", "d");
    flat.quantity(text, "safety_net", "safety_net_days", "d");
    backup(text, flat);
}

fn backup(text: &mut String, flat: &Flat<'_>) {
    let method = match flat.word("backup_method") {
        Some(word) if word.starts_with("Hardware") => "hardware snapshots",
        Some(word) if word.starts_with("Software") => "software snapshots",
        _ => "copies",
    };
    let frequency = match flat.word("backup_frequency") {
        Some("Daily Full") => "daily full",
        Some(word) if word.ends_with("Differential") => "weekly full, daily differential",
        Some(word) if word.starts_with("Bi") => "twice-monthly full, daily incremental",
        _ => "weekly full, daily incremental",
    };
    let _ = writeln!(text, "[backup]\nmethod = \"{method}\"\nfrequency = \"{frequency}\"");
    flat.quantity(text, "tolerance", "truncation_failure_days", "d");
    flat.quantity(text, "network_tolerance", "network_failure_days", "d");
}

fn hardware(text: &mut String, flat: &Flat<'_>) {
    let _ = writeln!(text, "[servers]");
    flat.line(text, "cores", "cores_dc1", 1.0);
    spec_rate(text, flat, "specint2006_rate_dc1");
    flat.flag(text, "multi_role", "multi_role");
    flat.flag(text, "virtual_machines", "virtualised");
    flat.line(text, "hypervisor_percent", "hypervisor_adjustment", 100.0);
    let _ = writeln!(text, "directory_64_bit = {}", !flat.is("gc", "32-bit"));
    let _ = writeln!(text, "[disks]");
    disks(text, flat, "dc1");
    let _ = writeln!(text, "[storage]");
    flat.flag(text, "consider_jbod", "consider_jbod");
    let several = "consider_multiple_dbs_per_volume";
    flat.flag(text, "several_databases_per_volume", several);
    flat.flag(text, "databases_equal_copies", "dbs_per_volume_equals_copies");
    flat.line(text, "autoreseed_volumes", "autoreseed_volumes", 1.0);
    flat.line(text, "usable_disk_io_percent", "disk_io_capacity", 100.0);
    if let Some(level) = flat.word("raid") {
        let _ = writeln!(text, "raid = \"{level}\"");
    }
    for level in ["raid10", "raid5", "raid6"] {
        if let Some(group) = flat.word(&format!("{level}_group")) {
            let _ = writeln!(text, "{level}_group = \"{group}\"");
        }
    }
    if let Some((_, group)) = flat.word("restore_raid").and_then(|word| word.split_once(' ')) {
        let _ = writeln!(text, "restore_group = \"{group}\"");
    }
}

fn disks(text: &mut String, flat: &Flat<'_>, site: &str) {
    for (name, purpose) in
        [("database", "db"), ("log", "log"), ("restore", "restore"), ("system", "system")]
    {
        let (size, kind) = flat.disk(purpose, site);
        let size = size.replace(' ', "");
        let kind = kind.replace(" RPM", "").replace("FC/SCSI/SAS", "SAS").replace('"', "");
        let _ = writeln!(text, "{name} = {{ size = \"{size}\", type = \"{kind}\" }}");
    }
}

fn network(text: &mut String, flat: &Flat<'_>) {
    let _ = writeln!(text, "[replication]");
    if flat.is("log_compression", "Enabled") {
        flat.line(text, "compression_percent", "log_compression_fraction", 100.0);
    } else {
        let _ = writeln!(text, "compression_percent = 0");
    }
    flat.quantity(text, "link_latency", "link_latency_ms", "ms");
    let links =
        [("Gigabit Ethernet", 1000.0), ("Fast Ethernet", 100.0), ("10 Gigabit Ethernet", 10_000.0)];
    let link = links.iter().find(|(name, _)| flat.is("link", name));
    if let Some((_, rate)) = link {
        let _ = writeln!(text, "link_mbps = {rate}");
    }
    flat.line(text, "link_mbps", "link_mbps", 1.0);
    let shares = flat.0.get("log_share_by_hour_1_to_24").and_then(Json::as_array);
    if let Some(shares) = shares {
        let percent = |share: &Json| (share.as_f64().unwrap() * 100.0).to_string();
        let shares: Vec<String> = shares.iter().map(percent).collect();
        let _ = writeln!(text, "hourly_percent = [{}]", shares.join(", "));
    }
}
