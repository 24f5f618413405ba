//! The steps from the present state of a `tgtd` to the desired one, and from there to nothing. No
//! step opens access before its protection is in place.

use std::fmt;

use plan::luns::{Allocation, ChapMode};

use super::live::{LiveTarget, TgtLive};
use super::request::{Object, TgtOperation, TgtRequest};
use crate::design::{LunDesign, MappedLun, Target};
use crate::state::LunState;

/// The next operation on `tgtd`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the sentence that it displays as")]
pub enum TgtStep {
    OpenPortal { portal: String },
    ClosePortal { portal: String },
    NewAccount { account: String },
    DropAccount { account: String },
    NewTarget { target: u32, iqn: String },
    DropTarget { target: u32, iqn: String, forced: bool },
    Offer { target: u32, lun: u64, file: String },
    Describe { target: u32, lun: u64, serial: String, read_only: bool, thin: bool },
    Withdraw { target: u32, lun: u64 },
    Bind { target: u32, account: String, own: bool },
    Unbind { target: u32, account: String, own: bool },
    Admit { target: u32, who: String },
    Shut { target: u32, who: String },
}

/// An existing object that is not ours, or in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TgtConflict {
    /// A target of the same name that our steps did not create.
    ForeignTarget {
        /// Name of the target.
        iqn: String,
    },
    /// A target of ours offers a file that is not ours.
    ForeignLun {
        /// The target.
        iqn: String,
        /// The LUN's number.
        lun: u64,
        /// Path of the LUN's file.
        file: String,
    },
    /// An account of that name exists, and we did not create it.
    ForeignAccount {
        /// Name of the account.
        account: String,
    },
    /// An initiator is logged in.
    InUse {
        /// The target.
        iqn: String,
        /// The initiator.
        initiator: String,
    },
}

impl fmt::Display for TgtConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignTarget { iqn } => write!(
                f,
                "{iqn}: tgtd has a target of this name that was not made here, and it is left \
                 alone; give another `target`, or remove that one by hand"
            ),
            Self::ForeignLun { iqn, lun, file } => write!(
                f,
                "{iqn}: offers {file} as LUN {lun}, which was not made here, so the target is left \
                 alone; take that LUN away with tgtadm first"
            ),
            Self::ForeignAccount { account } => write!(
                f,
                "tgtd has an account `{account}` that was not made here, and it is left alone; \
                 give another `name`, or remove that account by hand"
            ),
            Self::InUse { iqn, initiator } => write!(
                f,
                "{iqn}: {initiator} is logged in, and what it has under way would fail; log it out \
                 first, or say --force"
            ),
        }
    }
}

impl std::error::Error for TgtConflict {}

/// The desired state, and the proof of what we own.
#[derive(Clone, Copy, Debug)]
pub struct WantedLuns<'a> {
    /// The design.
    pub design: &'a LunDesign,
    /// State recorded by earlier steps.
    pub state: &'a LunState,
    /// Accounts whose secrets have changed since they were made.
    pub changed: &'a [String],
    /// Whether sessions may be closed.
    pub forced: bool,
}

/// Treatment of a LUN whose file has grown: `tgt` checks the length of a file only when a LUN is
/// made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision<'a> {
    /// Existing LUNs stay.
    Keep,
    /// These LUNs, by name, are removed and offered again.
    Renew(&'a [String]),
}

/// The steps from `live` to the desired state; empty if it is reached.
pub fn steps(
    wanted: WantedLuns<'_>,
    live: &TgtLive,
    revision: Revision<'_>,
) -> Result<Vec<TgtStep>, TgtConflict> {
    let mut steps = Vec::new();
    for portal in wanted.design.portals.iter().map(ToString::to_string) {
        if !live.portals.iter().any(|open| covers(open, &portal)) {
            steps.push(TgtStep::OpenPortal { portal });
        }
    }
    accounts(wanted, live, &mut steps)?;
    for target in &wanted.design.targets {
        let number = number_of(wanted.state, live, &target.iqn);
        let there = ours(wanted.state, live, &target.iqn)?;
        let context = Context { wanted, target, number };
        match there {
            Some(there) => context.revise(there, revision, &mut steps)?,
            None => context.make(&mut steps),
        }
    }
    for iqn in &wanted.state.targets {
        if wanted.design.targets.iter().any(|target| target.iqn == *iqn) {
            continue;
        }
        if let Some(there) = ours(wanted.state, live, iqn)? {
            steps.push(drop_target(there, wanted.forced)?);
        }
    }
    steps.extend(odd_accounts(wanted, live));
    Ok(steps)
}

/// The steps that remove everything in `state` from `live`. Ownership of each object is proved
/// before the first step.
pub fn removal(
    state: &LunState,
    live: &TgtLive,
    forced: bool,
) -> Result<Vec<TgtStep>, TgtConflict> {
    let mut steps = Vec::new();
    for iqn in &state.targets {
        if let Some(there) = ours(state, live, iqn)? {
            steps.push(drop_target(there, forced)?);
        }
    }
    let accounts = state.accounts.iter().map(|known| &known.account);
    for account in accounts.filter(|account| live.accounts.contains(account)) {
        steps.push(TgtStep::DropAccount { account: account.clone() });
    }
    for portal in state.portals.iter().filter(|portal| live.portals.contains(portal)) {
        steps.push(TgtStep::ClosePortal { portal: portal.clone() });
    }
    Ok(steps)
}

/// Whether an open portal covers a wanted one: the same portal, or all addresses with the same
/// port.
fn covers(open: &str, wanted: &str) -> bool {
    let is_everywhere = open.starts_with("0.0.0.0:") && !wanted.starts_with('[')
        || open.starts_with("[::]:") && wanted.starts_with('[');
    open == wanted || is_everywhere && port(open) == port(wanted)
}

fn port(portal: &str) -> Option<&str> {
    Some(portal.rsplit_once(':')?.1)
}

/// Target numbers are positive `i32`s.
const LARGEST_TARGET: u32 = i32::MAX.cast_unsigned();

/// The number of a target, existing or new.
fn number_of(state: &LunState, live: &TgtLive, iqn: &str) -> u32 {
    if let Some(there) = live.target(iqn) {
        return there.number;
    }
    let mut number = state.target_number(iqn);
    while live.targets.iter().any(|target| target.number == number) {
        // The loop reaches every number, so it finds a free one.
        number = number % LARGEST_TARGET + 1;
    }
    number
}

/// The target with this name, if it exists; refused if it or one of its LUNs is not ours.
fn ours<'l>(
    state: &LunState,
    live: &'l TgtLive,
    iqn: &str,
) -> Result<Option<&'l LiveTarget>, TgtConflict> {
    let Some(there) = live.target(iqn) else {
        return Ok(None);
    };
    if !state.targets.iter().any(|known| known == iqn) {
        return Err(TgtConflict::ForeignTarget { iqn: iqn.to_owned() });
    }
    match there.luns.iter().find(|lun| !state.has_file(&lun.file)) {
        Some(lun) => Err(TgtConflict::ForeignLun {
            iqn: iqn.to_owned(),
            lun: lun.number,
            file: units::plain(&lun.file).into_owned(),
        }),
        None => Ok(Some(there)),
    }
}

fn drop_target(there: &LiveTarget, forced: bool) -> Result<TgtStep, TgtConflict> {
    if !forced {
        refuse_session(there)?;
    }
    Ok(TgtStep::DropTarget { target: there.number, iqn: there.iqn.clone(), forced })
}

fn refuse_session(there: &LiveTarget) -> Result<(), TgtConflict> {
    match there.sessions.first() {
        Some(initiator) => Err(TgtConflict::InUse {
            iqn: there.iqn.clone(),
            initiator: units::plain(initiator).into_owned(),
        }),
        None => Ok(()),
    }
}

/// Accounts to create or recreate.
fn accounts(
    wanted: WantedLuns<'_>,
    live: &TgtLive,
    steps: &mut Vec<TgtStep>,
) -> Result<(), TgtConflict> {
    let state = wanted.state;
    let needed = wanted.design.accounts();
    for account in &needed {
        let is_ours = state.accounts.iter().any(|known| known.account == *account);
        match (live.accounts.contains(account), is_ours) {
            (true, false) => {
                return Err(TgtConflict::ForeignAccount { account: account.clone() });
            }
            (true, true) if wanted.changed.contains(account) => {
                // A target without an account admits every initiator, so access is shut while its
                // account is dropped.
                let bound = live.targets.iter().filter(|there| there.has_account(account));
                steps.extend(bound.flat_map(LiveTarget::shut));
                steps.push(TgtStep::DropAccount { account: account.clone() });
                steps.push(TgtStep::NewAccount { account: account.clone() });
            }
            (true, true) => {}
            (false, _) => steps.push(TgtStep::NewAccount { account: account.clone() }),
        }
    }
    Ok(())
}

fn is_dropped(steps: &[TgtStep], account: &str) -> bool {
    steps.iter().any(|step| matches!(step, TgtStep::DropAccount { account: of } if of == account))
}

/// Accounts that no target uses any more.
fn odd_accounts(wanted: WantedLuns<'_>, live: &TgtLive) -> Vec<TgtStep> {
    let needed = wanted.design.accounts();
    wanted
        .state
        .accounts
        .iter()
        .map(|known| &known.account)
        .filter(|account| !needed.contains(account) && live.accounts.contains(account))
        .map(|account| TgtStep::DropAccount { account: account.clone() })
        .collect()
}

/// A target with its context.
#[derive(Clone, Copy)]
struct Context<'a> {
    wanted: WantedLuns<'a>,
    target: &'a Target,
    number: u32,
}

impl Context<'_> {
    /// A new target: authentication is set up before its LUNs, and initiators are admitted last.
    fn make(self, steps: &mut Vec<TgtStep>) {
        let target = self.number;
        steps.push(TgtStep::NewTarget { target, iqn: self.target.iqn.clone() });
        self.bind(&LiveTarget::default(), steps);
        for lun in &self.target.luns {
            self.offer(lun, steps);
        }
        self.admit(&LiveTarget::default(), steps);
    }

    /// Adds the missing parts of an existing target and removes the surplus.
    fn revise(
        self,
        there: &LiveTarget,
        revision: Revision<'_>,
        steps: &mut Vec<TgtStep>,
    ) -> Result<(), TgtConflict> {
        let target = self.number;
        self.shut(there, steps);
        self.bind(there, steps);
        for lun in &there.luns {
            let wanted = self.target.luns.iter().find(|wanted| wanted.number == lun.number);
            let is_renewed = wanted.is_some_and(|wanted| match revision {
                Revision::Keep => false,
                Revision::Renew(names) => names.contains(&wanted.name),
            });
            if is_renewed || wanted.is_none_or(|wanted| wanted.file != lun.file) {
                if !self.wanted.forced {
                    refuse_session(there)?;
                }
                steps.push(TgtStep::Withdraw { target, lun: lun.number });
            }
        }
        for wanted in &self.target.luns {
            let is_withdrawn = steps.contains(&TgtStep::Withdraw { target, lun: wanted.number });
            let there = there.luns.iter().find(|lun| lun.number == wanted.number && !is_withdrawn);
            match there {
                None => self.offer(wanted, steps),
                Some(lun) if !self.is_described(wanted, lun.is_read_only, &lun.serial) => {
                    steps.push(self.description(wanted));
                }
                Some(_) => {}
            }
        }
        self.admit(there, steps);
        Ok(())
    }

    fn offer(self, lun: &MappedLun, steps: &mut Vec<TgtStep>) {
        let (target, file) = (self.number, lun.file.clone());
        steps.push(TgtStep::Offer { target, lun: lun.number, file });
        steps.push(self.description(lun));
    }

    fn description(self, lun: &MappedLun) -> TgtStep {
        let made = self.wanted.design.lun(&lun.name);
        TgtStep::Describe {
            target: self.number,
            lun: lun.number,
            serial: self.wanted.state.serial(&lun.name),
            read_only: lun.is_read_only,
            thin: made.is_some_and(|lun| lun.allocation == Allocation::Thin),
        }
    }

    fn is_described(self, lun: &MappedLun, is_read_only: bool, serial: &str) -> bool {
        lun.is_read_only == is_read_only && self.wanted.state.serial(&lun.name) == serial
    }

    /// The accounts that this target needs, of both kinds.
    fn accounts(self) -> [(Vec<String>, bool); 2] {
        let authentication = self.wanted.design.authentication;
        let one_way = (authentication != ChapMode::None, &self.target.account, false);
        let mutual = (authentication == ChapMode::Mutual, &self.target.own_account, true);
        [one_way, mutual].map(|(is_wanted, account, own)| {
            (is_wanted.then(|| account.clone()).into_iter().collect(), own)
        })
    }

    fn bind(self, there: &LiveTarget, steps: &mut Vec<TgtStep>) {
        let target = self.number;
        for (wanted, own) in self.accounts() {
            let bound = if own { &there.own_accounts } else { &there.accounts };
            // Dropping an account drops its bindings too.
            let anew: Vec<String> =
                wanted.iter().filter(|of| is_dropped(steps, of)).cloned().collect();
            let (mut missing, mut odd) = (Vec::new(), Vec::new());
            for account in wanted.iter().filter(|of| !bound.contains(of) || anew.contains(of)) {
                missing.push(TgtStep::Bind { target, account: account.clone(), own });
            }
            for account in bound.iter().filter(|of| !wanted.contains(of) && !is_dropped(steps, of))
            {
                odd.push(TgtStep::Unbind { target, account: account.clone(), own });
            }
            // One account too many for a moment is better than none, since a target without
            // accounts admits every initiator.
            steps.extend(missing);
            steps.extend(odd);
        }
    }

    fn admit(self, there: &LiveTarget, steps: &mut Vec<TgtStep>) {
        let target = self.number;
        for who in self.target.admitted() {
            let is_shut = steps.contains(&TgtStep::Shut { target, who: who.clone() });
            if is_shut || !there.admitted.contains(&who) {
                steps.push(TgtStep::Admit { target, who });
            }
        }
    }

    fn shut(self, there: &LiveTarget, steps: &mut Vec<TgtStep>) {
        let (target, wanted) = (self.number, self.target.admitted());
        for who in there.admitted.iter().filter(|who| !wanted.contains(who)) {
            let step = TgtStep::Shut { target, who: who.clone() };
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
    }
}

impl LiveTarget {
    fn has_account(&self, account: &String) -> bool {
        self.accounts.contains(account) || self.own_accounts.contains(account)
    }

    /// The steps that shut out all initiators not yet logged in.
    fn shut(&self) -> Vec<TgtStep> {
        self.admitted
            .iter()
            .map(|who| TgtStep::Shut { target: self.number, who: who.clone() })
            .collect()
    }
}

impl LunDesign {
    /// The accounts of all targets.
    pub fn accounts(&self) -> Vec<String> {
        let own = self.authentication == ChapMode::Mutual;
        if self.authentication == ChapMode::None {
            return Vec::new();
        }
        self.targets
            .iter()
            .flat_map(|target| [Some(&target.account), own.then_some(&target.own_account)])
            .flatten()
            .cloned()
            .collect()
    }
}

impl TgtStep {
    /// The request that performs the step; `secret` is for an account that the step creates.
    pub fn request(&self, secret: &str) -> TgtRequest {
        use Object::{Account, Lun, Portal, Target};
        use TgtOperation::{Bind, Delete, New, Unbind, Update};
        match self {
            Self::OpenPortal { portal } => {
                TgtRequest::new(Portal, New, None).with(format!("portal={portal}"))
            }
            Self::ClosePortal { portal } => {
                TgtRequest::new(Portal, Delete, None).with(format!("portal={portal}"))
            }
            Self::NewAccount { account } => TgtRequest::new(Account, New, None)
                .with(format!("user={account},password={secret}")),
            Self::DropAccount { account } => {
                TgtRequest::new(Account, Delete, None).with(format!("user={account}"))
            }
            Self::NewTarget { target, iqn } => {
                TgtRequest::new(Target, New, Some(*target)).with(format!("targetname={iqn}"))
            }
            Self::DropTarget { target, forced, .. } => {
                TgtRequest { is_forced: *forced, ..TgtRequest::new(Target, Delete, Some(*target)) }
            }
            Self::Offer { target, lun, file } => {
                TgtRequest { lun: *lun, ..TgtRequest::new(Lun, New, Some(*target)) }
                    .with(format!("path={file}"))
            }
            Self::Describe { target, lun, .. } => {
                TgtRequest { lun: *lun, ..TgtRequest::new(Lun, Update, Some(*target)) }
                    .with(self.parameters())
            }
            Self::Withdraw { target, lun } => {
                TgtRequest { lun: *lun, ..TgtRequest::new(Lun, Delete, Some(*target)) }
            }
            Self::Bind { target, account, own } => {
                TgtRequest { is_own_account: *own, ..TgtRequest::new(Account, Bind, Some(*target)) }
                    .with(format!("user={account}"))
            }
            Self::Unbind { target, account, own } => TgtRequest {
                is_own_account: *own,
                ..TgtRequest::new(Account, Unbind, Some(*target))
            }
            .with(format!("user={account}")),
            Self::Admit { target, who } => {
                TgtRequest::new(Target, Bind, Some(*target)).with(admission(who))
            }
            Self::Shut { target, who } => {
                TgtRequest::new(Target, Unbind, Some(*target)).with(admission(who))
            }
        }
    }

    /// Parameters of a LUN.
    fn parameters(&self) -> String {
        let Self::Describe { serial, read_only, thin, .. } = self else {
            return String::new();
        };
        let (read_only, thin) = (u8::from(*read_only), u8::from(*thin));
        format!(
            "vendor_id=Plimsoll,product_id=LUN,scsi_id={serial},scsi_sn={serial},\
             readonly={read_only},thin_provisioning={thin}"
        )
    }
}

/// The `tgtadm` argument that admits `who`, an initiator name or an address.
fn admission(who: &str) -> String {
    let is_name = who.starts_with("iqn.") || who.starts_with("eui.");
    if is_name { format!("initiator-name={who}") } else { format!("initiator-address={who}") }
}

/// The step as arguments of `tgtadm`, without any secret.
impl fmt::Display for TgtStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenPortal { portal } => {
                write!(f, "--mode portal --op new --param portal={portal}")
            }
            Self::ClosePortal { portal } => {
                write!(f, "--mode portal --op delete --param portal={portal}")
            }
            Self::NewAccount { account } => write!(f, "--mode account --op new --user {account}"),
            Self::DropAccount { account } => {
                write!(f, "--mode account --op delete --user {account}")
            }
            Self::NewTarget { target, iqn } => {
                write!(f, "--mode target --op new --tid {target} --targetname {iqn}")
            }
            Self::DropTarget { target, forced, .. } => {
                let force = if *forced { " --force" } else { "" };
                write!(f, "--mode target --op delete{force} --tid {target}")
            }
            Self::Offer { target, lun, file } => write!(
                f,
                "--mode logicalunit --op new --tid {target} --lun {lun} --backing-store '{file}'"
            ),
            Self::Describe { target, lun, .. } => write!(
                f,
                "--mode logicalunit --op update --tid {target} --lun {lun} --params {}",
                self.parameters()
            ),
            Self::Withdraw { target, lun } => {
                write!(f, "--mode logicalunit --op delete --tid {target} --lun {lun}")
            }
            Self::Bind { target, account, own } => {
                let own = if *own { " --outgoing" } else { "" };
                write!(f, "--mode account --op bind --tid {target} --user {account}{own}")
            }
            Self::Unbind { target, account, own } => {
                let own = if *own { " --outgoing" } else { "" };
                write!(f, "--mode account --op unbind --tid {target} --user {account}{own}")
            }
            Self::Admit { target, who } => {
                write!(f, "--mode target --op bind --tid {target} --{}", admission(who))
            }
            Self::Shut { target, who } => {
                write!(f, "--mode target --op unbind --tid {target} --{}", admission(who))
            }
        }
    }
}
