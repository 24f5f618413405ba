//! Figures of one mailbox of each tier: a line for each key.

use super::{Definition, INPUT, OWN, WORKBOOK};

/// Generates the enum from the lines, so that each name is written once.
macro_rules! tier_catalogue {
    ($($key:ident $name:literal $unit:literal $source:ident $title:literal;)*) => {
        /// Names a number of a tier, without the tier.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TierKey {
            $(#[doc = $title] $key,)*
        }

        impl TierKey {
            /// The key's line in the catalogue.
            pub(super) const fn definition(self) -> Definition {
                match self {
                    $(Self::$key => Definition {
                        name: $name, unit: $unit, source: $source, title: $title,
                    },)*
                }
            }
        }
    };
}

tier_catalogue! {
    ArchiveDumpsterPlusWhitespaceMb "archive_dumpster_plus_whitespace_mb" "MiB" WORKBOOK
        "deleted and changed items kept beside the archive";
    ArchiveLimitMb "archive_limit_mb" "MiB" INPUT "size limit of the archive";
    AverageMessageKb "average_message_kb" "KiB" INPUT "a message";
    CacheMb "cache_mb" "MiB" WORKBOOK "cache";
    CpuFactorEffective "cpu_factor_effective" "" WORKBOOK "megacycle multiplier over all users";
    DesktopSearchReadMultiplier "desktop_search_read_multiplier" "" WORKBOOK
        "reads with desktop search";
    DumpsterPlusWhitespaceMb "dumpster_plus_whitespace_mb" "MiB" WORKBOOK
        "deleted and changed items kept beside the mailbox";
    GrowthPercent "growth_percent" "percent" INPUT "more mailboxes in the end";
    InitialMb "initial_mb" "MiB" INPUT "mailbox today";
    IoFactorEffective "io_factor_effective" "" WORKBOOK "I/O multiplier over all users";
    Iops "iops" "1/s" WORKBOOK "I/O";
    IopsBase "iops_base" "1/s" WORKBOOK "I/O without multipliers";
    IopsGiven "iops_given" "1/s" INPUT "I/O that is given";
    IopsMultiplier "iops_multiplier" "" INPUT "I/O multiplier";
    IopsRead "iops_read" "1/s" WORKBOOK "reads";
    IopsTotalPerDag "iops_total_per_dag" "1/s" WORKBOOK "I/O of the tier in a group";
    Items "items" "thousands" WORKBOOK "items";
    LimitMb "limit_mb" "MiB" INPUT "size limit";
    LogSizeFactor "log_size_factor" "" WORKBOOK "log size by the size of messages";
    LogsPerDay "logs_per_day" "logs of 1 MiB" WORKBOOK "logs a day";
    MailboxOnDiskMb "mailbox_on_disk_mb" "MiB" WORKBOOK "mailbox on the disk";
    Mailboxes "mailboxes" "" WORKBOOK "mailboxes";
    MailboxesToday "mailboxes_today" "" INPUT "mailboxes today";
    McyclesActive "mcycles_active" "megacycles" WORKBOOK "megacycles, active";
    McyclesClientAccess "mcycles_client_access" "megacycles" WORKBOOK "megacycles of client access";
    McyclesPassive "mcycles_passive" "megacycles" WORKBOOK "megacycles, passive";
    MegacycleMultiplier "megacycle_multiplier" "" INPUT "megacycle multiplier";
    MessagesPerDay "messages_per_day" "" INPUT "messages a day";
    MonthsToLimit "months_to_limit" "months" WORKBOOK "months to the limit";
    MultiplierUsersPercent "multiplier_users_percent" "percent" INPUT
        "users that multipliers count for";
    ReadFraction "read_fraction" "" WORKBOOK "share of reads";
    ReadWriteShare "read_write_share" "" INPUT "share of reads that is given";
    RetentionDays "retention_days" "days" INPUT "days that deleted items are kept";
    WeeklyMb "weekly_mb" "MiB" WORKBOOK "new mail of a week";
    WeeksTo100Percent "weeks_to_100_percent" "weeks" OWN "weeks until the mailbox is full";
    WeeksTo60Percent "weeks_to_60_percent" "weeks" OWN "weeks until it is 60 percent full";
    WeeksTo80Percent "weeks_to_80_percent" "weeks" OWN "weeks until it is 80 percent full";
    WhitespaceMb "whitespace_mb" "MiB" WORKBOOK "mail of a day";
    YearlyGb "yearly_gb" "GiB" WORKBOOK "new mail of a year";
}
