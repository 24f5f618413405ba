//! Random deployments that cover all inputs of the published formulas. Each is a document, so that
//! both calculations read the same text that a user would write.

use std::fmt::Write as _;

use units::Prng;

/// Size and type of the disks to draw from.
const DISKS: [(&str, &str); 7] = [
    ("600GB", "15K SAS 3.5"),
    ("1200GB", "10K SAS 2.5"),
    ("2000GB", "7.2K SATA 3.5"),
    ("3000GB", "7.2K SAS 3.5"),
    ("4000GB", "7.2K SAS 3.5"),
    ("8000GB", "7.2K SATA 2.5"),
    ("12000GB", "5.4K SATA 3.5"),
];

/// A kind of deployment; all are drawn equally often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawnShape {
    /// No copies: separate logs, backup sets or pairs.
    Alone,
    /// Copies within one site.
    Single,
    /// Copies in two sites.
    Two,
}

/// A document drawn from a seed.
pub(super) fn document(seed: u64) -> (DrawnShape, String) {
    let mut draw = PlanDraw(Prng::new(units::Seed(seed)));
    let shape = [DrawnShape::Alone, DrawnShape::Single, DrawnShape::Two][draw.below(3)];
    let mut text = format!(
        "name = \"draw {seed}\"\nmode = \"compatible\"\nproduct = \"{}\"\n",
        draw.one(&["2013", "2016"])
    );
    draw.tiers(&mut text);
    draw.availability(shape, &mut text);
    draw.data(&mut text);
    draw.hardware(&mut text);
    draw.backup(shape, &mut text);
    (shape, text)
}

struct PlanDraw(Prng);

impl PlanDraw {
    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> usize {
        usize::try_from(self.0.below(bound)).unwrap_or(0)
    }

    fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len() as u64)]
    }

    fn flag(&mut self) -> bool {
        self.0.percent(50)
    }

    fn tiers(&mut self, text: &mut String) {
        for _ in 0..=self.below(3) {
            let mailboxes = (1 + self.below(40)) * 250;
            let _ = write!(
                text,
                "[[tier]]\nmailboxes = {mailboxes}\ngrowth_percent = {}\nmessages_per_day = {}\n\
                 average_message = \"{}KiB\"\nsize_limit = \"{}MiB\"\narchive_limit = \"{}MiB\"\n\
                 deleted_item_retention = \"{}d\"\nsingle_item_recovery = {}\n\
                 calendar_versions = {}\nmultiplier_users_percent = {}\niops_multiplier = {}\n\
                 megacycle_multiplier = {}\ndesktop_search = {}\ninitial_size = \"{}MiB\"\n",
                self.one(&["0", "10", "25"]),
                (1 + self.below(10)) * 50,
                self.one(&["25", "50", "75", "100", "150"]),
                self.one(&["100", "512", "1024", "2048", "10240", "102400"]),
                self.one(&["0", "0", "5120"]),
                self.one(&["0", "14", "30", "60"]),
                self.flag(),
                self.flag(),
                self.one(&["100", "40"]),
                self.one(&["1", "1", "2.5"]),
                self.one(&["1", "1", "1.6"]),
                self.0.percent(25),
                self.one(&["64", "100"]),
            );
            if self.0.percent(20) {
                let ratio = self.one(&["2:3", "1:1", "3:2", "2:1", "3:1"]);
                let _ = write!(text, "iops = 0.15\nread_write_ratio = \"{ratio}\"\n");
            }
        }
    }

    fn availability(&mut self, shape: DrawnShape, text: &mut String) {
        let copies = if shape == DrawnShape::Alone { 1 } else { 2 + self.below(4) };
        let lagged = if shape == DrawnShape::Alone { 0 } else { self.below(3) };
        let servers = (copies + lagged).max(1) + self.below(6);
        let _ = write!(
            text,
            "[availability]\nservers_per_site = {servers}\ncopies = {copies}\ndags = {}\n\
             lagged_copies = {lagged}\nreplay_lag = \"{}h\"\ntruncation_lag = \"{}h\"\n\
             replay_lag_manager = {}\nlagged_on_own_servers = {}\n",
            1 + self.below(3),
            self.one(&["0", "24", "168", "336"]),
            self.one(&["0", "72", "336"]),
            self.flag(),
            self.0.percent(25),
        );
        if shape == DrawnShape::Two {
            let model = ["active/passive", "active/active", "active/active, groups of their own"];
            let most = copies.saturating_sub(1).max(1) as u64;
            let there = 1 + self.below(most);
            let late = self.below(lagged as u64 + 1);
            let _ = write!(
                text,
                "[second_site]\nmodel = \"{}\"\ncopies = {there}\nlagged_copies = {late}\n\
                 recovery_point = \"{}h\"\nblocks_activation = {}\ndedicated_servers = {}\n",
                self.one(&model),
                self.below(25),
                self.0.percent(20),
                self.0.percent(30),
            );
        }
    }

    fn data(&mut self, text: &mut String) {
        let _ = write!(
            text,
            "[data]\noverhead_percent = {}\nmoves_per_week_percent = {}\nrestore_volume = {}\n\
             volume_free_space_percent = {}\nsymmetrical = {}\nwork_days = {}\ndatabases = {}\n",
            self.one(&["0", "10", "20"]),
            self.one(&["0", "1", "5"]),
            self.flag(),
            self.one(&["0", "5", "10"]),
            self.flag(),
            self.one(&["5", "7"]),
            if self.0.percent(25) { (1 + self.below(90)).to_string() } else { "\"auto\"".into() },
        );
        if self.0.percent(25) {
            let size = self.one(&["100", "250", "600"]);
            let _ = writeln!(text, "largest_database = \"{size}GiB\"");
        }
        let _ = write!(
            text,
            "[io]\noverhead_percent = {}\nadditional_iops = {}\n",
            self.one(&["0", "20"]),
            self.one(&["0", "100"]),
        );
    }

    fn hardware(&mut self, text: &mut String) {
        let cores = (1 + self.below(4)) * 6;
        let _ = write!(
            text,
            "[servers]\ncores = {cores}\nmulti_role = {}\nvirtual_machines = {}\n",
            self.0.percent(70),
            self.flag(),
        );
        if self.0.percent(80) {
            let _ = writeln!(text, "spec_rate = {}", cores * (20 + self.below(30)));
        }
        text.push_str("[disks]\n");
        for purpose in ["database", "log", "restore", "system"] {
            let (size, kind) = DISKS[self.below(DISKS.len() as u64)];
            let _ = writeln!(text, "{purpose} = {{ size = \"{size}\", type = \"{kind}\" }}");
        }
        let volumes = if self.0.percent(15) { "40" } else { "\"auto\"" };
        let _ = write!(
            text,
            "[storage]\nconsider_jbod = {}\nseveral_databases_per_volume = {}\n\
             databases_equal_copies = {}\nvolumes_per_server = {volumes}\n\
             autoreseed_volumes = {}\nusable_disk_io_percent = {}\n\
             build = \"{}\"\nraid10_group = \"{}\"\nraid5_group = \"{}\"\n",
            self.0.percent(80),
            self.flag(),
            self.flag(),
            self.below(4),
            self.one(&["100", "80"]),
            self.one(&["calculated", "calculated", "raid", "jbod"]),
            self.one(&["1+1", "2+2", "4+4"]),
            self.one(&["2+1", "5+1", "6+1"]),
        );
    }

    fn backup(&mut self, shape: DrawnShape, text: &mut String) {
        let methods = ["copies", "software snapshots", "hardware snapshots"];
        let methods = if shape == DrawnShape::Alone { &methods[1..] } else { &methods[..] };
        let frequencies = [
            "daily full",
            "weekly full, daily incremental",
            "weekly full, daily differential",
            "twice-monthly full, daily incremental",
        ];
        let _ = write!(
            text,
            "[backup]\nmethod = \"{}\"\nfrequency = \"{}\"\ntolerance = \"{}d\"\n\
             network_tolerance = \"{}d\"\n[transport]\nqueue_expiration = \"{}d\"\n\
             safety_net = \"{}d\"\n",
            self.one(methods),
            self.one(&frequencies),
            1 + self.below(5),
            self.below(4),
            1 + self.below(3),
            1 + self.below(9),
        );
        if shape == DrawnShape::Two {
            let hours = "2, 2, 2, 3, 2, 5, 4, 8, 8, 9, 6, 7, 7, 7, 5, 6, 3, 2, 4, 1, 2, 2, 1, 2";
            let _ = write!(
                text,
                "[replication]\ncompression_percent = {}\nhourly_percent = [{hours}]\n\
                 link_mbps = {}\nlink_latency = \"{}ms\"\n",
                self.one(&["0", "30"]),
                self.one(&["1", "45", "155", "1000"]),
                self.one(&["0", "10", "50", "200"]),
            );
        }
    }
}
