//! Known mistakes of the official calculator: its result, and the right one.

/// One known mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// Volumes and disks can be fractional.
    FractionalVolumes,
    /// Passive copies are charged the multiplier of active users.
    PassiveMultiplier,
    /// Rounding to groups of four misses them.
    GroupsOfFour,
    /// The time until a mailbox is full is wrong.
    MonthsToLimit,
    /// Servers without copies have no processor figure for the worst case.
    StandaloneProcessor,
    /// Two reasons for more reads count the base twice.
    DoubleReads,
    /// Reads of clients without an index do not change the share of reads.
    SearchReadShare,
    /// Bits are compared with bytes, or the window is ignored.
    LinkWindow,
    /// Databases are filled past their limit.
    MailboxesRoundedUp,
    /// Two failed servers are estimated by a formula.
    TwoFailures,
    /// Space for lagged copies is reserved on every server.
    LaggedSpace,
    /// Messages a day come in steps of 50.
    ProfileSteps,
    /// Log space is reserved for a lag although no copy is lagged.
    LagWithoutCopies,
    /// A small database count is inflated until every order of servers occurs.
    AllOrders,
    /// A count given by the user is rounded like a calculated one.
    GivenCount,
    /// The databases per volume of one site are computed from both sites.
    VolumeOfBothSites,
    /// Servers for lagged copies are forgotten if a volume holds several databases.
    OwnServersForgotten,
    /// The largest database follows the first site's disks alone.
    FirstSiteDecides,
    /// Requests per second of a disk count in full, whatever share may be used.
    DiskShareIgnored,
    /// A count is rounded up to the servers even if that is not wanted.
    UnwantedSymmetry,
    /// A partial backup set is rounded away.
    BackupSetRounded,
    /// Restore space shrinks with the databases of the last volume.
    RestoreRoomShrinks,
    /// Spare volumes are counted beside redundant groups.
    SparesBesideGroups,
    /// Copies and volumes of a server beyond the hundredth are not counted.
    HundredVolumes,
    /// The survivors counted for transport are not the actual survivors.
    TransportServers,
    /// A recovery point of four hours uses the mean of five.
    WindowOfFive,
    /// Servers for lagged copies are assumed to be as full as all others.
    LateServersFull,
    /// Negative counts of passive copies are used, so that processor use can be negative.
    PassiveBelowNone,
}

impl Quirk {
    /// What the workbook does.
    pub const fn workbook(self) -> &'static str {
        match self {
            Self::FractionalVolumes => "volumes and disks are counted in fractions",
            Self::PassiveMultiplier => "the megacycle multiplier also counts for passive copies",
            Self::GroupsOfFour => "count + count mod 4 stands for the next multiple of 4",
            Self::MonthsToLimit => {
                "the time to the limit divides the limit by a year's growth plus the initial size"
            }
            Self::StandaloneProcessor => "there is no worst case for servers without copies",
            Self::DoubleReads => {
                "reads of desktop search and of an I/O multiplier are added, base included twice"
            }
            Self::SearchReadShare => "desktop search does not change the share of reads",
            Self::LinkWindow => {
                "bits on the way are compared with bytes of the TCP window, or not at all"
            }
            Self::MailboxesRoundedUp => "mailboxes per database are rounded up past the limit",
            Self::TwoFailures => "two failed servers are estimated by a formula",
            Self::LaggedSpace => "every server has room for late copies",
            Self::ProfileSteps => "messages a day come in steps of 50 from 50 to 500",
            Self::LagWithoutCopies => "a replay lag counts where there are no copies",
            Self::AllOrders => {
                "the count rises until every order of servers occurs, however few are needed"
            }
            Self::GivenCount => "a count that is given is rounded like a calculated one",
            Self::VolumeOfBothSites => {
                "databases of a volume are counted over both sites for the largest database"
            }
            Self::OwnServersForgotten => {
                "late copies lie on the common servers where a volume holds several databases"
            }
            Self::FirstSiteDecides => "the first site's disks alone limit the largest database",
            Self::DiskShareIgnored => {
                "mailboxes per database are limited by all I/O of the first site's disk"
            }
            Self::UnwantedSymmetry => {
                "a count rises to a multiple of the servers though symmetry is not wanted"
            }
            Self::BackupSetRounded => "databases of a backup set are rounded to the nearest",
            Self::RestoreRoomShrinks => "the last volume has room to restore a part of a database",
            Self::SparesBesideGroups => "spare volumes are counted on RAID too",
            Self::HundredVolumes => "copies and volumes of a server beyond 100 are not counted",
            Self::TransportServers => {
                "the queue is spread over half of the groups, or over fewer servers than are left"
            }
            Self::WindowOfFive => "a recovery point of 4 hours takes the mean of 5",
            Self::LateServersFull => {
                "servers for late copies are taken to hold as many copies as the others"
            }
            Self::PassiveBelowNone => {
                "fewer than no passive copies count where more are active than a server holds, and \
                 its processors may be used below zero"
            }
        }
    }

    /// What corrected mode does.
    pub const fn corrected(self) -> &'static str {
        match self {
            Self::FractionalVolumes => "they are rounded up",
            Self::PassiveMultiplier => "it counts for active copies only, as S-CHK states",
            Self::GroupsOfFour => "the next multiple of 4 that gives every server the same",
            Self::MonthsToLimit => "what is left is divided by a month's growth",
            Self::StandaloneProcessor => "it is the normal one",
            Self::DoubleReads => "the base counts once",
            Self::SearchReadShare => "its reads count as reads",
            Self::LinkWindow => "bits are compared with bits, in every site model",
            Self::MailboxesRoundedUp => "they are rounded down",
            Self::TwoFailures => "the copy layout is simulated; see the failures of the layout",
            Self::LaggedSpace => "it is kept, and said",
            Self::ProfileSteps => "figures per message are taken for any number",
            Self::LagWithoutCopies => "it counts for late copies only",
            Self::AllOrders => {
                "it rises to that only where it no more than doubles, else to even shares"
            }
            Self::GivenCount => "it is taken as it is",
            Self::VolumeOfBothSites => "those are counted that lie on the volume",
            Self::OwnServersForgotten => "they lie on the servers that are kept for them",
            Self::FirstSiteDecides => "the disks of both sites do",
            Self::DiskShareIgnored => "by the usable share, and by the slower site's disk",
            Self::UnwantedSymmetry => "the count is taken as it comes",
            Self::BackupSetRounded => "every set has room for the larger number",
            Self::RestoreRoomShrinks => "every volume has room for a whole one",
            Self::SparesBesideGroups => "redundant groups need none",
            Self::HundredVolumes => "all are counted",
            Self::TransportServers => "over all that the worst failure leaves",
            Self::WindowOfFive => "it takes the mean of 4",
            Self::LateServersFull => "they hold what there is for them",
            Self::PassiveBelowNone => "none count then, in both modes",
        }
    }
}
