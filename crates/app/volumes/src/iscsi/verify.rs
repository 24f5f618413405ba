//! `iscsi verify`: logs in to every LUN from this machine under its initiator's name, and checks
//! that strangers are refused.

use device_net::{
    ChapLogin, ChapSecret, IscsiAddress, IscsiError, IscsiInitiator, IscsiPortal, Lun, SecretError,
    WriteAnswer,
};
use host::look;
use host::target::TargetError;
use inspection::lun::{
    LunProof, LunRefusal, LunStranger, LunWrite, PlannedLun, against_plan, of_target,
};
use luns::{MappedLun, Target};
use plan::luns::ChapMode;
use record::{StorageFinding, StorageRuling};
use units::Bytes;

use super::pattern;
use super::strangers::{self, TargetVisit};
use super::work::IscsiWork;
use crate::inspect::answer::{InspectAnswer, conclude};
use crate::inspect::flags::InspectAnswerFlags;
use crate::iscsi::flags::IscsiVerifyFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Prints the findings on each LUN, as `inspect` does.
pub(super) fn run(
    flags: &IscsiVerifyFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let work = IscsiWork::begin(&flags.what)?;
    if !work.store.is_begun {
        return Err(CommandError::new(format!(
            "{}: nothing was made by it yet; run `plimsoll iscsi apply` first",
            flags.what.document.display()
        )));
    }
    let mut findings: Vec<StorageFinding> = Vec::new();
    let mut lead = Vec::new();
    let live = work.tgtd.live();
    for target in &work.design.targets {
        for mapped in &target.luns {
            let visit = LunVisit::of(&work, target, mapped)?;
            lead.push(format!("{} for {}: {}", mapped.name, target.initiator, visit.name));
            findings.extend(visit.findings(flags.write)?);
        }
        if let Some(mapped) = target.luns.first() {
            let visit = LunVisit::of(&work, target, mapped)?;
            findings.extend(of_target(&visit.of_target(&work, target).tried(live.as_ref())?));
        }
    }
    lead.push(String::new());
    let answer = InspectAnswer {
        subject: &work.design.name,
        findings: &findings,
        paths: &[],
        outputs: &[],
        is_open: false,
        lead: &lead,
        inputs: &[&flags.what.document],
    };
    let form =
        InspectAnswerFlags { html: flags.html.clone(), force: flags.force, json: flags.what.json };
    let outcome = conclude(&answer, &form, console)?;
    Ok(judged(outcome, &findings))
}

/// Turns a pass into an inconclusive outcome if a target could not be compared with the plan.
fn judged(outcome: Outcome, findings: &[StorageFinding]) -> Outcome {
    let is_unknown = findings.iter().any(|finding| {
        finding.outcome == StorageRuling::CannotJudge && finding.check.starts_with("plan-")
    });
    match outcome {
        Outcome::Pass if is_unknown => Outcome::CannotJudge,
        outcome => outcome,
    }
}

/// An initiator at one of its LUNs.
struct LunVisit<'a> {
    name: String,
    address: IscsiAddress,
    /// Other portals of the document.
    others: Vec<IscsiPortal>,
    initiator: IscsiInitiator,
    mapped: &'a MappedLun,
    proof: LunProof,
    capacity: Bytes,
}

impl<'a> LunVisit<'a> {
    fn of(
        work: &'a IscsiWork,
        target: &'a Target,
        mapped: &'a MappedLun,
    ) -> Result<Self, CommandError> {
        let (design, store) = (&work.design, &work.store);
        let mut portals: Vec<IscsiPortal> = Vec::new();
        for portal in &design.portals {
            portals.push(IscsiPortal { host: portal.ip().to_string(), port: portal.port() });
        }
        let portal = portals.remove(0);
        let user = (design.authentication != ChapMode::None).then(|| target.account.clone());
        let lun = u16::try_from(mapped.number).unwrap_or(u16::MAX);
        let account = user.as_deref().map_or(String::new(), |user| format!("{user}@"));
        let name = format!("iscsi://{account}{portal}/{}/{lun}", target.iqn);
        let own = (design.authentication == ChapMode::Mutual)
            .then(|| store.secret(design, &target.own_account));
        let chap = user
            .as_deref()
            .map(|user| login(user, store.secret(design, &target.account), own))
            .transpose()?;
        let initiator = IscsiInitiator { name: target.initiator_iqn.clone(), chap };
        Ok(Self {
            name,
            address: IscsiAddress { portal, target: target.iqn.clone(), lun, user },
            others: portals,
            initiator,
            mapped,
            proof: match design.authentication {
                ChapMode::None => LunProof::None,
                ChapMode::OneWay => LunProof::OneWay,
                ChapMode::Mutual => LunProof::Mutual,
            },
            capacity: design.lun(&mapped.name).map_or(Bytes(0), |lun| lun.size),
        })
    }

    fn findings(&self, writes: bool) -> Result<Vec<StorageFinding>, CommandError> {
        let facts = match look::lun_facts(&self.address, &self.name, &self.initiator, &self.others)
        {
            Ok(facts) => Ok(facts),
            // Access depends on addresses, and this machine may have a different one.
            Err(TargetError::Lun(error @ IscsiError::Refused { .. })) => {
                Err(LunRefusal::NotFromHere(error.to_string()))
            }
            Err(TargetError::Lun(error)) => Err(LunRefusal::Refused(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let may_write = writes && facts.is_ok() && !self.mapped.is_read_only;
        let plan = PlannedLun {
            name: self.name.clone(),
            proof: self.proof,
            capacity: self.capacity,
            is_read_only: self.mapped.is_read_only,
            stranger: if facts.is_ok() { self.stranger()? } else { None },
            empty_write: (facts.is_ok() && self.mapped.is_read_only).then(|| self.empty_write()),
            pattern: may_write
                .then(|| pattern::written(&self.address, &self.name, &self.initiator))
                .transpose()?,
        };
        Ok(against_plan(&plan, facts.as_ref()))
    }

    /// Outcome of a login with a secret that was never given to anyone.
    fn stranger(&self) -> Result<Option<LunStranger>, CommandError> {
        let Some(user) = &self.address.user else {
            return Ok(None);
        };
        let chap = Some(login(user, &super::store::new_secret()?, None)?);
        let stranger = IscsiInitiator { chap, ..self.initiator.clone() };
        Ok(Some(strangers::end(&self.address, &self.name, &stranger)))
    }

    /// Tries an empty write, which changes nothing even if the LUN permits it.
    fn empty_write(&self) -> LunWrite {
        let lun = Lun::attach(&self.address, &self.name, &self.initiator);
        match lun.and_then(|lun| lun.try_empty_write()) {
            Ok(WriteAnswer::Taken) => LunWrite::Taken,
            Ok(WriteAnswer::Protected) => LunWrite::Protected,
            Err(error) => LunWrite::Unknown(error.to_string()),
        }
    }

    /// Describes `target` as the initiator of this LUN reaches it.
    fn of_target<'b>(&'b self, work: &'b IscsiWork, target: &'b Target) -> TargetVisit<'b> {
        TargetVisit {
            name: format!("iscsi://{}/{}", self.address.portal, target.iqn),
            target,
            planned: &work.design.targets,
            address: self.address.clone(),
            others: &self.others,
            initiator: &self.initiator,
        }
    }
}

fn login(user: &str, secret: &str, own: Option<&str>) -> Result<ChapLogin, CommandError> {
    chap_login(user, secret, own)
        .map_err(|error| CommandError::new(format!("the secrets of {user}: {error}")))
}

fn chap_login(user: &str, secret: &str, own: Option<&str>) -> Result<ChapLogin, SecretError> {
    let secret = ChapSecret::new(secret)?;
    let own = own.map(ChapSecret::new).transpose()?;
    ChapLogin::new(user, secret, own)
}
