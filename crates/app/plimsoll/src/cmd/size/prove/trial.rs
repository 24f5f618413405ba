//! One design, laid out on its arrays and played.

use std::collections::BTreeSet;

use host::HostError;
use host::simulate::played::side_by_side;
use plan::Deployment;
use plan::deployment::Replacement;
use provision::Provision;
use rehearsal::{
    Breach, Duty, HostGroup, Judgement, Limits, Occurrence, PlayOrder, PlayedDeployment, Stretch,
    groups, judge, play, replay_of, timeline,
};
use report::{Claim, ClaimState};
use sizing::Severity;
use units::{Nanos, Seed};

use super::cases::{PlayedClaim, claims};
use crate::cmd::plan as plan_verb;
use crate::cmd::predict::designed::DesignedSet;
use crate::cmd::simulate::deployment::arrangement::{Arrangement, ArrayChoice, Sharing};
use crate::cmd::simulate::deployment::from_provision;
use crate::console::Console;
use crate::error::CommandError;

/// Played at the beginning of each stretch, and to represent the rest.
const PLAYED: Nanos = Nanos::from_secs(60);

/// A design that can be played.
pub(super) struct Trial {
    pub provision: Provision,
    /// What the sizing forbids.
    pub violations: Vec<String>,
    arrangement: Arrangement,
    groups: Vec<HostGroup>,
}

/// One case with its judgement.
struct PlayedCase {
    name: String,
    judgement: Judgement,
    /// Databases that stay inactive.
    inactive: usize,
    /// Whether databases were inactive for a while, and all are active in the end.
    by_hand: bool,
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
        let set = DesignedSet::of(&provision, server, &deployment.storage.first.database)?;
        let choice = ArrayChoice { array: set.array, sharing: Sharing::Sets(set.databases.max(1)) };
        let document = plan_verb::layout_of(&deployment)?;
        let arrangement = from_provision::arranged(&document, &choice, None)?;
        let violations = findings.iter().filter(|of| of.severity == Severity::Violation);
        Ok(Self {
            violations: violations.map(|of| format!("{}: {}", of.key, of.text)).collect(),
            groups: groups(&arrangement.deployment),
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
            "{} servers, {} databases with {copies} copies each, {:.0} mailboxes; {} arrays of {}.",
            deployment.hosts.len(),
            deployment.databases.len(),
            self.mailboxes(),
            deployment.arrays.len(),
            self.arrangement.array.name
        )
    }

    /// Plays every claim with this share of the mailboxes.
    pub(super) fn claims(
        &self,
        share: f64,
        console: &mut Console,
    ) -> Result<Vec<Claim>, CommandError> {
        let mut deployment = self.arrangement.deployment.clone();
        for database in &mut deployment.databases {
            database.iops = database.iops.map(|iops| iops * share);
        }
        let mut found = Vec::new();
        for claim in claims(&self.provision, &deployment) {
            console.remark(format_args!("{}: {} to play ...", claim.name, claim.cases.len()))?;
            found.push(self.claim(&deployment, &claim)?);
        }
        Ok(found)
    }

    fn claim(
        &self,
        deployment: &PlayedDeployment,
        claim: &PlayedClaim,
    ) -> Result<Claim, CommandError> {
        let cases = side_by_side::<_, HostError>(claim.cases.len(), |at| {
            self.case(deployment, &claim.cases[at], claim.length)
        })?;
        let worst = cases.iter().max_by(|one, two| one.badness().total_cmp(&two.badness()));
        let worst = worst.ok_or_else(|| CommandError::new("a claim without a case"))?;
        Ok(worst.claim(claim, claim.objection.clone(), cases.len()))
    }

    /// Plays the hosts that matter in a case: where most is active, and where something fails.
    fn case(
        &self,
        deployment: &PlayedDeployment,
        occurrences: &[Occurrence],
        length: Nanos,
    ) -> Result<PlayedCase, HostError> {
        let stretches = timeline(deployment, occurrences, length);
        let hosts = busiest(deployment, &stretches);
        let replays: Vec<_> = deployment.profiles.iter().map(replay_of).collect();
        let order = PlayOrder {
            deployment,
            replays: &replays,
            stretches: &stretches,
            scan: None,
            rest_percent: 0,
            transition: PLAYED,
            steady: PLAYED,
            seed: Seed(1),
        };
        let mut outcomes = Vec::new();
        for group in
            self.groups.iter().filter(|of| of.hosts.iter().any(|host| hosts.contains(host)))
        {
            let played = play(&order, group, &mut |_| true);
            outcomes.push(played.map_err(|error| HostError::new(error.to_string()))?);
        }
        let limits = self.limits();
        let judgement = judge(deployment, (&stretches, occurrences), &outcomes, &limits);
        let inactive = stretches.last().map_or(0, Stretch::inactive);
        let name = occurrences.iter().map(|of| of.text.as_str()).collect::<Vec<_>>().join(" and ");
        let by_hand = inactive == 0 && stretches.iter().any(|of| of.inactive() > 0);
        Ok(PlayedCase { name, judgement, inactive, by_hand })
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

/// In each stretch the host with most active copies, of those the one with most others; and hosts
/// of which an array fails.
fn busiest(deployment: &PlayedDeployment, stretches: &[Stretch]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for stretch in stretches {
        let mut loads = vec![(0_usize, 0_usize); deployment.hosts.len()];
        for (database, duties) in deployment.databases.iter().zip(&stretch.duties) {
            for (copy, duty) in database.copies.iter().zip(duties) {
                let load = &mut loads[copy.host];
                load.0 += usize::from(*duty == Duty::Active);
                load.1 += usize::from(*duty != Duty::Idle);
                if matches!(duty, Duty::Seeding { .. })
                    || stretch.failed_drives.contains(&copy.place.array)
                {
                    found.insert(copy.host);
                }
            }
        }
        found.extend((0..loads.len()).max_by_key(|&host| loads[host]));
    }
    found
}

impl PlayedCase {
    /// Ranks cases: inactive databases first, then broken limits, then latency.
    fn badness(&self) -> f64 {
        let excess = self.judgement.breaches.first().map_or(0.0, |breach| breach.excess);
        let worst = self.judgement.worst_row().and_then(|row| row.worst);
        self.inactive as f64 * 1e9 + excess * 1e6 + worst.map_or(0.0, |(_, ms)| ms)
    }

    fn claim(&self, claim: &PlayedClaim, objection: Option<String>, cases: usize) -> Claim {
        let breach = self.judgement.breaches.first();
        let state = match (&objection, self.inactive > 0 || breach.is_some()) {
            (Some(_), _) => ClaimState::FailsOnPaper,
            (None, true) => ClaimState::Fails,
            (None, false) => ClaimState::Holds,
        };
        let settled = self.judgement.rows.iter();
        let reads = settled.filter_map(|row| row.settled.reads_ms).reduce(f64::max);
        let busy = self.judgement.rows.iter().map(|row| row.usage.drives).fold(0.0, f64::max);
        Claim {
            name: claim.name.clone(),
            worst: if self.name.is_empty() { "-".to_owned() } else { self.name.clone() },
            cases,
            state,
            reads_ms: reads,
            disks_busy: busy,
            because: objection.unwrap_or_else(|| self.because(breach)),
            redundant_after_ns: self
                .judgement
                .recoveries
                .first()
                .and_then(|of| of.redundant_after)
                .map(|after| after.0),
        }
    }

    fn because(&self, breach: Option<&Breach>) -> String {
        match (self.inactive, breach, self.by_hand) {
            (1.., _, _) => format!("{} databases are active nowhere", self.inactive),
            (0, Some(breach), _) => {
                format!("{}; the {} are the limit", breach.text, breach.limit.name())
            }
            (0, None, true) => "an administrator activates the other site".to_owned(),
            (0, None, false) => "every limit is kept".to_owned(),
        }
    }
}
