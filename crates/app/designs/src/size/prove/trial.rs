//! One design, laid out on its arrays and played.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::{Claim, Trust};
use host::HostError;
use host::simulate::played::side_by_side;
use plan::Deployment;
use plan::deployment::Replacement;
use provision::{Provision, Server};
use rehearsal::{
    HostGroup, Limits, Occurrence, PlayOrder, PlayedDeployment, Stretch, groups, judge, play,
    replay_of, timeline,
};
use simdisk::ArrayDescription;
use sizing::{Key, Severity};
use units::{Nanos, Seed};

use super::case::PlayedCase;
use super::cases::{PlayedClaim, claims};
use super::deciding::{deciding, deciding_anew};
use super::outage::longest_outage;
use super::paper::OnPaper;
use super::recovery::recovery_work;
use crate::plan as plan_verb;
use crate::predict::designed::DesignedSet;
use crate::simulate::deployment::arrangement::{Arrangement, ArrayChoice, Sharing};
use crate::simulate::deployment::conduct::representative;
use crate::simulate::deployment::from_provision;
use console::Console;
use console::error::CommandError;

/// Time played at the start of each stretch, and again to represent the rest of it.
const PLAYED: Nanos = Nanos::from_secs(60);

/// Time played to represent the rest of a stretch in the worst case. It is longer, because the
/// worst of many short plays is partly chance.
const CONFIRMED: Nanos = Nanos::from_secs(300);

/// A change to a design that needs no new layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adjustment {
    /// Share of the mailboxes.
    pub share: f64,
    /// Factor on the duration of reseeds.
    pub(crate) reseeds_take: f64,
}

impl Adjustment {
    /// No change.
    pub(super) const NONE: Self = Self { share: 1.0, reseeds_take: 1.0 };
}

/// A design that can be played.
pub(super) struct Trial {
    pub provision: Provision,
    /// Sizing rules that the design violates.
    pub(crate) violations: Vec<String>,
    /// Load of a disk by the formulas, as a share of the requests that it can serve.
    pub(crate) disk_load: Option<f64>,
    /// Total disks for databases, logs, restores and reseeds; `None` if they are not sized.
    disks_in_all: Option<f64>,
    /// The longest interruption that the document allows.
    longest_outage: Option<Nanos>,
    arrangement: Arrangement,
    groups: Vec<HostGroup>,
}

impl Trial {
    /// The design of a document with these edits.
    pub(super) fn of(
        (file, text): &(String, String),
        edits: &[Replacement],
    ) -> Result<Self, CommandError> {
        let deployment = Deployment::parse_with(file, text, edits)?;
        let (provision, findings) = plan_verb::laid_out(&deployment, None)?;
        let server = provision.groups.first().and_then(|group| group.servers.first());
        let server = server.ok_or_else(|| CommandError::new("the design has no server"))?;
        let (array, sharing) = arrays_of(&deployment, &provision, server)?;
        let others = others(&deployment, &provision)?;
        let choice = ArrayChoice { array, sharing, others };
        let document = plan_verb::layout_of(&deployment)?;
        let arrangement =
            from_provision::arranged(&document, &choice, None)?.measured(&choice, 0)?;
        let sizing = provision::size_unadvised(&deployment);
        let violations = findings.iter().filter(|of| of.severity == Severity::Violation);
        Ok(Self {
            violations: violations.map(|of| format!("{}: {}", of.key, of.text)).collect(),
            groups: groups(&arrangement.deployment),
            disk_load: provision::disk_load(&sizing),
            disks_in_all: sizing.number(Key::DiskAll),
            longest_outage: deployment.availability.longest_outage,
            provision,
            arrangement,
        })
    }

    pub(super) fn uncertainty_percent(&self) -> f64 {
        self.arrangement.array.calibration.uncertainty_percent
    }

    /// Mailboxes of all databases.
    pub(super) fn mailboxes(&self) -> f64 {
        let databases = self.arrangement.deployment.databases.len() as f64;
        self.provision.needs.mailboxes_per_database * databases
    }

    /// The design in a sentence.
    pub(super) fn words(&self) -> String {
        let deployment = &self.arrangement.deployment;
        let copies = deployment.databases.first().map_or(0, |of| of.copies.len());
        format!(
            "{}, {} with {} each, {} mailboxes; {} of {}{}.",
            units::plural(deployment.hosts.len() as u64, "server"),
            units::plural(deployment.databases.len() as u64, "database"),
            if copies == 1 { "one copy".to_owned() } else { format!("{copies} copies") },
            units::decimal(self.mailboxes(), 0),
            units::plural(deployment.arrays.len() as u64, "array"),
            self.arrangement.array.name,
            self.disks_in_all.map_or_else(String::new, |disks| {
                format!(", {disks:.0} disks in all, those for logs, restores and reseeds included")
            }),
        )
    }

    /// The design's claims, not yet played.
    pub(super) fn claims(&self) -> Vec<PlayedClaim> {
        claims(&self.provision, &self.arrangement.deployment)
    }

    /// Plays every claim.
    pub(super) fn played(&self, console: &mut Console) -> Result<Vec<Claim>, CommandError> {
        let mut found = Vec::new();
        for claim in self.claims() {
            console.remark(format_args!("{}: {} to play ...", claim.name, claim.cases.len()))?;
            let played = self.play(&claim, Adjustment::NONE)?;
            console.remark(format_args!("{}: {}", played.name, played.because))?;
            found.push(played);
        }
        Ok(found)
    }

    /// Plays one claim: all of its distinct cases, and the worst of them for longer.
    pub(super) fn play(
        &self,
        claim: &PlayedClaim,
        adjustment: Adjustment,
    ) -> Result<Claim, CommandError> {
        let deployment = self.adjusted(adjustment);
        let all = &claim.cases;
        let outlines: Vec<Vec<Stretch>> =
            all.iter().map(|case| timeline(&deployment, case, claim.length)).collect();
        let mut anew = deciding_anew(&deployment, &outlines);
        let due: Vec<usize> = (0..all.len()).filter(|&at| !anew[at].is_empty()).collect();
        let cases = side_by_side::<_, HostError>(due.len(), |number| {
            let at = due[number];
            self.case(&deployment, (&all[at], &outlines[at], &anew[at]), PLAYED)
        })?;
        let ranked = (0..cases.len())
            .max_by(|&one, &two| cases[one].badness().total_cmp(&cases[two].badness()));
        let at = due[ranked.ok_or_else(|| CommandError::new("a claim without a case"))?];
        anew[at] = deciding(&deployment, &outlines[at]);
        let confirmed = CONFIRMED.max(representative(&deployment));
        let worst = self.case(&deployment, (&all[at], &outlines[at], &anew[at]), confirmed)?;
        let disks = self.disk_load.map(|load| load * adjustment.share);
        let paper = OnPaper { objection: claim.objection, disks };
        let uncertainty_percent = self.uncertainty_percent();
        let trust = Trust { limits: self.limits(), uncertainty_percent };
        let outage = longest_outage(all, &outlines, self.longest_outage);
        Ok(worst.claim((&claim.name, all.len(), outage), &paper, trust))
    }

    fn adjusted(&self, Adjustment { share, reseeds_take }: Adjustment) -> PlayedDeployment {
        let mut deployment = self.arrangement.deployment.clone();
        for database in &mut deployment.databases {
            database.iops = database.iops.map(|iops| iops * share);
        }
        deployment.rules.reseed_rate /= reseeds_take;
        deployment
    }

    /// Whether a failed disk loses its copies, so that they are reseeded.
    pub(super) fn reseeds(&self) -> bool {
        self.arrangement.deployment.arrays.iter().any(|of| !of.survives_a_drive())
    }

    /// Seeding rate of copies, in MB per second.
    pub(super) fn reseed_mb_per_second(&self) -> f64 {
        self.arrangement.deployment.rules.reseed_rate / 1e6
    }

    /// Plays the claim with this name; `None` if the design does not make it, or it fails on paper.
    pub(super) fn play_again(
        &self,
        name: &str,
        adjustment: Adjustment,
    ) -> Result<Option<Claim>, CommandError> {
        let claim = self.claims().into_iter().find(|of| of.name == name);
        let claim = claim.filter(|of| of.objection.is_none());
        claim.map(|of| self.play(&of, adjustment)).transpose()
    }

    /// Plays these hosts in a case.
    fn case(
        &self,
        deployment: &PlayedDeployment,
        (occurrences, stretches, hosts): (&[Occurrence], &[Stretch], &BTreeSet<usize>),
        steady: Nanos,
    ) -> Result<PlayedCase, HostError> {
        let replays: Vec<_> = deployment.profiles.iter().map(replay_of).collect();
        let order = PlayOrder {
            deployment,
            replays: &replays,
            stretches,
            scan: self.arrangement.scan(),
            rest_percent: 0,
            transition: PLAYED,
            steady,
            seed: Seed(1),
        };
        let mut outcomes = Vec::new();
        for group in
            self.groups.iter().filter(|of| of.hosts.iter().any(|host| hosts.contains(host)))
        {
            let played = play(&order, group, &mut ());
            outcomes.push(played.map_err(|error| HostError::new(error.to_string()))?);
        }
        let limits = self.limits();
        let judgement = judge(deployment, (stretches, occurrences), &outcomes, &limits);
        let inactive = stretches.last().map_or(0, Stretch::inactive);
        let name = occurrences.iter().map(|of| of.text.as_str()).collect::<Vec<_>>().join(" and ");
        let mut copies = deployment.databases.iter().flat_map(|of| &of.copies);
        let has_lagged = copies.any(|of| of.is_lagged);
        let lag = if has_lagged { deployment.rules.lag } else { Nanos::ZERO };
        let recovery = recovery_work(deployment, stretches);
        Ok(PlayedCase { name, judgement, inactive, lag, recovery })
    }

    fn limits(&self) -> Limits {
        let plan = &self.arrangement.plans[0];
        Limits {
            reads_ms: plan.limits.read_average.as_secs_f64() * 1e3,
            log_ms: plan.limits.log_write_average.as_secs_f64() * 1e3,
            reached: 0.95,
        }
    }
}

/// The set of disks of a server, and how its databases share such sets.
fn arrays_of(
    deployment: &Deployment,
    provision: &Provision,
    server: &Server,
) -> Result<(ArrayDescription, Sharing), CommandError> {
    let storage = &deployment.storage;
    let disks = if server.site == 0 { &storage.first } else { &storage.second };
    let set = DesignedSet::of(provision, server, &disks.database)?;
    Ok((set.array, Sharing::Sets(set.databases.max(1))))
}

/// The sets of all servers that differ from the first.
fn others(
    deployment: &Deployment,
    provision: &Provision,
) -> Result<BTreeMap<String, (ArrayDescription, Sharing)>, CommandError> {
    let mut others = BTreeMap::new();
    for kind in provision.kinds().into_iter().skip(1) {
        let arrays = arrays_of(deployment, provision, kind)?;
        let alike = provision.groups.iter().flat_map(|group| &group.servers);
        let alike =
            { alike }.filter(|of| (of.site, of.only_lagged) == (kind.site, kind.only_lagged));
        others.extend(alike.map(|server| (server.name.clone(), arrays.clone())));
    }
    Ok(others)
}

#[cfg(test)]
mod tests {
    use super::super::cases::NORMAL;
    use super::{Adjustment, Nanos, Trial};
    use crate::simulate::deployment::conduct::RehearsalOrder;

    const SMALL: &str = include_str!("../../../../../../examples/deployments/E4.toml");
    const PAUSE: Nanos = Nanos::from_millis(20);

    /// One design, played by two verbs: both count background maintenance.
    #[test]
    fn a_proof_and_a_simulation_of_its_layout_agree_on_normal_operation() {
        let design = ("E4.toml".to_owned(), SMALL.to_owned());
        let mut trial = Trial::of(&design, &[]).expect("a design");
        // The pace of Exchange 2010. At that of the example a scan hardly slows a read.
        trial.arrangement.plans[0].test.maintenance_throttle = Some(PAUSE);
        let claim = trial.play_again(NORMAL, Adjustment::NONE).expect("it plays");
        let order = RehearsalOrder {
            arrangement: &trial.arrangement,
            occurrences: &[],
            length: Nanos::from_secs(3_600),
            seeds: 1,
            rest_percent: 0,
            folder: None,
            command: String::new(),
        };
        let played = order.conduct().expect("it plays");
        let rows = &played.judgements[0].rows;
        let simulated = rows.iter().filter_map(|row| row.settled.reads_ms).reduce(f64::max);
        let (proved, simulated) = claim.and_then(|of| of.reads_ms).zip(simulated).expect("reads");
        let apart = (proved / simulated - 1.0).abs();
        assert!(apart < 0.05, "{proved} ms proved, {simulated} ms simulated");
    }
}
