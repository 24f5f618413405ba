//! Every key except those of tiers and of series of failures, one line each, by stage.

use super::{
    Definition, FailureMode, INPUT, METACACHE, METACACHE_INFERRED, OWN, ProcessorKey, ServerKind,
    TierKey, WORKBOOK,
};

/// Makes an enum of the lines, so that each name appears once and every key has one. `each` holds
/// keys with a variant for each kind of server: those of the first site, of the second, and those
/// reserved for lagged copies.
macro_rules! catalogue {
    (
        one { $($one:ident $name:literal $unit:literal $source:ident $title:literal;)* }
        each { $($each:ident { $($line:literal $of:literal $by:ident $words:literal;)* })* }
    ) => {
        /// Names a number or a decision of a sizing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Key {
            $(#[doc = $title] $one,)*
            $(#[doc = concat!($($words, "; ",)* "by kind of server")] $each(ServerKind),)*
            /// Key of a tier, counted from 1.
            Tier(usize, TierKey),
            /// A figure of the product, by the name of its field.
            Figure(&'static str),
            /// Active databases of the busiest server in a failure.
            FailureActive(FailureMode),
            /// Processor requirement of a kind of server in a failure.
            Processor(ProcessorKey, FailureMode, ServerKind),
        }

        impl Key {
            /// The line of a key that is listed here.
            pub(super) const fn listed(self) -> Definition {
                match self {
                    $(Self::$one => Definition {
                        name: $name, unit: $unit, source: $source, title: $title,
                    },)*
                    $(Self::$each(kind) => of_kind(kind, &[$(Definition {
                        name: $line, unit: $of, source: $by, title: $words,
                    }),*]),)*
                    Self::Tier(..) | Self::Figure(_) | Self::FailureActive(_)
                    | Self::Processor(..) => panic!("not listed"),
                }
            }
        }
    };
}

/// The line of a kind of server; the first if it has none.
const fn of_kind(kind: ServerKind, lines: &[Definition]) -> Definition {
    let index = kind as usize;
    if index < lines.len() { lines[index] } else { lines[0] }
}

catalogue! {
    one {
        // Inputs from the document.
        AvailabilityDags "availability.dags" "" INPUT "groups that are given";
        AvailabilityReplayLagDays "availability.replay_lag_days" "days" INPUT
            "delay of late copies";
        AvailabilityServersPerSite "availability.servers_per_site" "" INPUT
            "servers of a site that are given";
        AvailabilityTruncationLagDays "availability.truncation_lag_days" "days" INPUT
            "how much longer late copies keep replayed logs";
        BackupNetworkToleranceDays "backup.network_tolerance_days" "days" INPUT
            "days without replication that logs are kept for";
        BackupToleranceDays "backup.tolerance_days" "days" INPUT
            "days without a backup that logs are kept for";
        DataDatabases "data.databases" "" INPUT "databases per DAG, given";
        DataLargestDatabaseGb "data.largest_database_gb" "GiB" INPUT
            "largest database that is given";
        DataMovesPerWeekPercent "data.moves_per_week_percent" "percent" INPUT
            "mailboxes moved in a week";
        DataOverheadPercent "data.overhead_percent" "percent" INPUT
            "room in a database for more than its mailboxes";
        DataVolumeFreeSpacePercent "data.volume_free_space_percent" "percent" INPUT
            "part of a volume that stays free";
        DataWorkDays "data.work_days" "days" INPUT "days of a week with work";
        FileSystemIopsFactor "file_system.iops_factor" "" INPUT
            "part of a disk's I/O that the file system leaves";
        FileSystemProcessorFactor "file_system.processor_factor" "" INPUT
            "processor time with the file system's share";
        MetaCacheCapacityPercent "metacache.capacity_percent" "percent" INPUT
            "least capacity of SSDs, of that of the databases' disks";
        MetaCacheSsdGb "metacache.ssd_gb" "GB" INPUT "raw capacity of an SSD";
        MetaCacheSsdsGiven "metacache.ssds_per_server" "" INPUT "SSDs of a server that are given";
        PricesDisk "prices.disk" "" INPUT "price of a disk, whatever its type and size";
        PricesDiskWatts "prices.disk_watts" "W" INPUT "power of a disk";
        PricesKilowattHour "prices.kilowatt_hour" "" INPUT "price of a kilowatt hour";
        PricesMemoryGb "prices.memory_gb" "" INPUT "price of a GiB of memory";
        PricesRackUnitYear "prices.rack_unit_year" "" INPUT "price of a rack unit for a year";
        PricesServer "prices.server" "" INPUT "price of a server without memory and disks";
        PricesServerRackUnits "prices.server_rack_units" "" INPUT "rack units of a server";
        PricesServerWatts "prices.server_watts" "W" INPUT "power of a server without data disks";
        PricesSsd "prices.ssd" "" INPUT "price of an SSD";
        PricesSystemDisk "prices.system_disk" "" INPUT "price of a system disk";
        PricesYears "prices.years" "years" INPUT "years that running costs are counted for";
        ReplicationBusiestMeanShare "replication.busiest_mean_share" "" INPUT
            "part of a day's logs in the busiest hours in a row";
        ReplicationCompressionPercent "replication.compression_percent" "percent" INPUT
            "what compression saves";
        ReplicationLinkLatencyMs "replication.link_latency_ms" "ms" INPUT "latency of the link";
        ReplicationLinkMbps "replication.link_mbps" "Mb/s" INPUT "rate of the link";
        ReplicationPeakHourShare "replication.peak_hour_share" "" INPUT
            "part of a day's logs in the busiest hour";
        ServersCoresGiven "servers.cores" "" INPUT "cores of a server";
        ServersHypervisorPercent "servers.hypervisor_percent" "percent" INPUT
            "processor time that a hypervisor takes";
        StorageAutoreseedVolumes "storage.autoreseed_volumes" "" INPUT
            "spare volumes that are given";
        StorageUsableDiskIoPercent "storage.usable_disk_io_percent" "percent" INPUT
            "part of a disk's I/O that may be used";
        StorageVolumesPerServer "storage.volumes_per_server" "" INPUT
            "volumes of a server that are given";
        // Mailboxes and copies.
        MailboxesAverageMessageKb "mailboxes.average_message_kb" "KiB" WORKBOOK "a message";
        MailboxesCacheMb "mailboxes.cache_mb" "MiB" WORKBOOK "cache of a mailbox";
        MailboxesItems "mailboxes.items" "thousands" WORKBOOK "items of a mailbox";
        MailboxesMcyclesActive "mailboxes.mcycles_active" "megacycles" WORKBOOK
            "megacycles of an active mailbox";
        MailboxesMcyclesClientAccess "mailboxes.mcycles_client_access" "megacycles" WORKBOOK
            "megacycles of client access of a mailbox";
        MailboxesMcyclesPassive "mailboxes.mcycles_passive" "megacycles" WORKBOOK
            "megacycles of a passive mailbox";
        MailboxesOnDiskGb "mailboxes.on_disk_gb" "GiB" WORKBOOK "a mailbox on the disk in GiB";
        MailboxesOnDiskMb "mailboxes.on_disk_mb" "MiB" WORKBOOK "a mailbox on the disk";
        MailboxesTotal "mailboxes.total" "" WORKBOOK "mailboxes in all";
        CopiesFirstSite "copies.first_site" "" INPUT "copies of a database in the first site";
        CopiesFirstSiteLagged "copies.first_site_lagged" "" INPUT
            "late copies of a database in the first site";
        CopiesInAll "copies.in_all" "" WORKBOOK "copies in all";
        CopiesPerDag "copies.per_dag" "" WORKBOOK "copies per DAG";
        CopiesSecondSite "copies.second_site" "" INPUT "copies of a database in the second site";
        CopiesSecondSiteLagged "copies.second_site_lagged" "" INPUT
            "late copies of a database in the second site";
        CopiesTotal "copies.total" "" INPUT "copies of a database";
        // Servers.
        ServerActiveDc1 "srv.active_dc1" "" WORKBOOK "active servers, first site";
        ServerActiveDc2 "srv.active_dc2" "" WORKBOOK "active servers, second site";
        ServerActiveMailboxesNormal "srv.active_mailboxes_normal" "" WORKBOOK
            "active mailboxes of a server";
        ServerAll "srv.all" "" OWN "servers in all";
        ServerClientAccess "srv.client_access" "" WORKBOOK "client access servers";
        ServerDags "srv.dags" "" WORKBOOK "groups";
        ServerLaggedPerDag "srv.lagged_per_dag" "" WORKBOOK
            "servers kept for late copies, per DAG";
        ServerMailboxesPerDag "srv.mailboxes_per_dag" "" WORKBOOK "mailboxes per DAG";
        ServerParts "srv.parts" "" WORKBOOK "groups, or servers without copies";
        ServerPassiveDc1 "srv.passive_dc1" "" WORKBOOK "waiting servers, first site";
        ServerPassiveDc2 "srv.passive_dc2" "" WORKBOOK "waiting servers, second site";
        ServerPerDag "srv.per_dag" "" WORKBOOK "servers per DAG";
        ServerRemainingAfterWorstFailure "srv.remaining_after_worst_failure" "" WORKBOOK
            "servers left after the worst failure";
        // Databases.
        DatabaseActiveDc1 "db.active_dc1" "" WORKBOOK
            "databases active in the first site, per DAG";
        DatabaseActiveDc2 "db.active_dc2" "" WORKBOOK
            "databases active in the second site, per DAG";
        DatabaseAll "db.all" "" OWN "databases in all";
        DatabaseCount "db.count" "" WORKBOOK "databases per DAG";
        DatabaseCountBeforeGroupRounding "db.count_before_group_rounding" "" WORKBOOK
            "databases before they are rounded to groups of four";
        DatabaseCountMinimum "db.count_minimum" "" WORKBOOK "fewest databases per DAG";
        DatabaseCountSymmetrical "db.count_symmetrical" "" WORKBOOK
            "databases that spread evenly over the servers";
        DatabaseMailboxes "db.mailboxes" "" WORKBOOK "mailboxes of a database";
        DatabaseMailboxesCapacityLimited "db.mailboxes_capacity_limited" "" WORKBOOK
            "room for mailboxes, by capacity";
        DatabaseMailboxesIoLimited "db.mailboxes_io_limited" "" WORKBOOK
            "room for mailboxes, by I/O";
        DatabaseMailboxesTarget "db.mailboxes_target" "" WORKBOOK "most mailboxes of a database";
        DatabaseMaxCountPerDag "db.max_count_per_dag" "" WORKBOOK "most databases per DAG";
        DatabaseMaxSizeGbCalculated "db.max_size_gb_calculated" "GiB" WORKBOOK
            "largest database, calculated";
        DatabaseMaxSizeGbUsed "db.max_size_gb_used" "GiB" WORKBOOK "largest database";
        DatabasePassiveDc2 "db.passive_dc2" "" WORKBOOK
            "passive copies in the second site, per DAG";
        DatabasePerVolume "db.per_volume" "" WORKBOOK "databases on a volume";
        DatabasePerVolumeByCopies "db.per_volume_by_copies" "" WORKBOOK
            "databases on a volume, by their copies";
        DatabaseSizeGb "db.size_gb" "GiB" WORKBOOK "mailboxes of a database on the disk";
        DatabaseSizeWithOverheadGb "db.size_with_overhead_gb" "GiB" WORKBOOK "size of a database";
        DatabaseSpaceGbAllCopiesPerDag "db.space_gb_all_copies_per_dag" "GiB" WORKBOOK
            "all copies per DAG";
        DatabaseSpaceGbOneCopyPerDag "db.space_gb_one_copy_per_dag" "GiB" WORKBOOK
            "one copy of all databases of a DAG";
        DatabaseSymmetricalBlock "db.symmetrical_block" "" WORKBOOK
            "ways to lay the copies of a database on servers";
        // Logs.
        LogAllLogsPerDayPerDb "log.all_logs_per_day_per_db" "logs of 1 MiB" WORKBOOK
            "logs of a database a day";
        LogBacklogDays "log.backlog_days" "days" WORKBOOK "days of logs that are kept";
        LogBacklogGbPerDag "log.backlog_gb_per_dag" "GiB" WORKBOOK "logs that are kept, per DAG";
        LogLagDays "log.lag_days" "days" WORKBOOK "how far late copies are behind";
        LogMoveGbPerDag "log.move_gb_per_dag" "GiB" WORKBOOK
            "logs of a week's mailbox moves, per DAG";
        LogSpaceGbPerDag "log.space_gb_per_dag" "GiB" WORKBOOK "logs per DAG";
        LogSpaceGbPerDb "log.space_gb_per_db" "GiB" WORKBOOK "logs of a database";
        LogUserLogsPerDayPerDag "log.user_logs_per_day_per_dag" "logs of 1 MiB" WORKBOOK
            "logs of users a day, per DAG";
        LogUserLogsPerDayPerDb "log.user_logs_per_day_per_db" "logs of 1 MiB" WORKBOOK
            "logs of users a day, of a database";
        // Reads and writes.
        IoAdditionalIops "io.additional_iops" "1/s" INPUT "I/O that is given besides";
        IoDbIopsPerDag "io.db_iops_per_dag" "1/s" WORKBOOK "database I/O per DAG";
        IoDbIopsPerDb "io.db_iops_per_db" "1/s" WORKBOOK "database I/O of a database";
        IoDbIopsPerMailbox "io.db_iops_per_mailbox" "1/s" WORKBOOK "database I/O of a mailbox";
        IoDbReadsPerServer "io.db_reads_per_server" "1/s" WORKBOOK "reads";
        IoDbWritesPerServer "io.db_writes_per_server" "1/s" WORKBOOK "writes";
        IoLogIopsPerDag "io.log_iops_per_dag" "1/s" WORKBOOK "log I/O per DAG";
        IoLogIopsPerDb "io.log_iops_per_db" "1/s" WORKBOOK "log I/O of a database";
        IoLogReadsPerServer "io.log_reads_per_server" "1/s" WORKBOOK "log reads of a server";
        IoLogWritesPerServer "io.log_writes_per_server" "1/s" WORKBOOK "log writes of a server";
        IoMaintenanceMbPerServer "io.maintenance_mb_per_server" "MB/s" WORKBOOK
            "background maintenance of a server";
        IoOverheadPercent "io.overhead_percent" "percent" INPUT "I/O to add for safety";
        IoReadFraction "io.read_fraction" "" WORKBOOK "share of reads in database I/O";
        // Volumes.
        VolumeArchitecture "vol.architecture" "" WORKBOOK "volumes are";
        VolumeAutoreseed "vol.autoreseed" "" WORKBOOK "spare volumes of a server";
        VolumeDbLogIsolated "vol.db_log_isolated" "" WORKBOOK "logs on volumes of their own";
        VolumeDbVolumeGb "vol.db_volume_gb" "GiB" WORKBOOK "size of a database volume";
        VolumeDbsPerVolume "vol.dbs_per_volume" "" WORKBOOK "databases on a volume";
        VolumeDbsPerVolumeAverage "vol.dbs_per_volume_average" "" WORKBOOK
            "databases on a volume, on average";
        VolumeLogVolumeGb "vol.log_volume_gb" "GiB" WORKBOOK "size of a log volume";
        VolumeLogVolumes "vol.log_volumes" "" WORKBOOK "log volumes of a server";
        VolumeLogVolumesGbPerServer "vol.log_volumes_gb_per_server" "GiB" WORKBOOK
            "all log volumes of a server";
        VolumeRestoreGb "vol.restore_gb" "GiB" WORKBOOK "size of the restore volume";
        VolumeRestoreVolumes "vol.restore_volumes" "" WORKBOOK "restore volumes of a server";
        VolumeTotalPerServer "vol.total_per_server" "" WORKBOOK "volumes of a server";
        // Disks.
        DiskAll "disk.all" "" OWN "disks in all";
        DiskBackendIopsRaid10 "disk.backend_iops_raid10" "1/s" WORKBOOK
            "disk I/O of a server as RAID-1/0";
        DiskBackendIopsRaid5 "disk.backend_iops_raid5" "1/s" WORKBOOK
            "disk I/O of a server as RAID-5";
        DiskBackendIopsRaid6 "disk.backend_iops_raid6" "1/s" WORKBOOK
            "disk I/O of a server as RAID-6";
        DiskDataDisksForCapacity "disk.data_disks_for_capacity" "" WORKBOOK
            "data disks of a server, by capacity";
        DiskJbodDbDisks "disk.jbod_db_disks" "" WORKBOOK
            "single disks of the databases of a server";
        DiskLogIops "disk.log_iops" "1/s" INPUT "I/O of a log disk";
        DiskLogRawGb "disk.log_raw_gb" "GB" INPUT "raw capacity of a log disk";
        DiskRaid10ForCapacity "disk.raid10_for_capacity" "" WORKBOOK
            "disks as RAID-1/0, by capacity";
        DiskRaid10ForIo "disk.raid10_for_io" "" WORKBOOK "disks as RAID-1/0, by I/O";
        DiskRaid5ForCapacity "disk.raid5_for_capacity" "" WORKBOOK "disks as RAID-5, by capacity";
        DiskRaid5ForIo "disk.raid5_for_io" "" WORKBOOK "disks as RAID-5, by I/O";
        DiskRaid6ForCapacity "disk.raid6_for_capacity" "" WORKBOOK "disks as RAID-6, by capacity";
        DiskRaid6ForIo "disk.raid6_for_io" "" WORKBOOK "disks as RAID-6, by I/O";
        DiskRaidChoiceLog "disk.raid_choice_log" "" WORKBOOK "RAID of the logs";
        DiskRaidChoiceRestore "disk.raid_choice_restore" "" WORKBOOK "RAID of the restore volume";
        DiskRaidDisksLog "disk.raid_disks_log" "" WORKBOOK "mirrored log disks";
        DiskRaidDisksPerServer "disk.raid_disks_per_server" "" WORKBOOK
            "disks of a server in redundant groups";
        DiskRaidDisksRestore "disk.raid_disks_restore" "" WORKBOOK "disks for restores";
        DiskRebuildSafeIopsRaid10 "disk.rebuild_safe_iops_raid10" "1/s" WORKBOOK
            "disk I/O as RAID-1/0 with room for a rebuild";
        DiskRebuildSafeIopsRaid5 "disk.rebuild_safe_iops_raid5" "1/s" WORKBOOK
            "disk I/O as RAID-5 with room for a rebuild";
        DiskRebuildSafeIopsRaid6 "disk.rebuild_safe_iops_raid6" "1/s" WORKBOOK
            "disk I/O as RAID-6 with room for a rebuild";
        DiskRestoreRawGb "disk.restore_raw_gb" "GB" INPUT "raw capacity of a disk for restores";
        DiskSystemAll "disk.system_all" "" OWN "system disks in all, in mirrored pairs";
        DiskSystemLeastGb "disk.system_least_gb" "GB" OWN "least raw capacity of a system disk";
        DiskSystemNeededGb "disk.system_needed_gb" "GiB" OWN
            "room needed on a system disk";
        DiskSystemRawGb "disk.system_raw_gb" "GB" INPUT "raw capacity of a system disk";
        // SSDs that hold MetaCache databases.
        MetaCacheCopiesPerServer "mcdb.copies_per_server" "" METACACHE
            "copies that share the SSDs of a server";
        MetaCacheDiskGbPerServer "mcdb.disk_gb_per_server" "GB" OWN
            "raw capacity of the databases' disks of the fullest server";
        MetaCacheDisksPerServer "mcdb.disks_per_server" "" OWN
            "disks with databases of the fullest server";
        MetaCacheGbPerCopy "mcdb.gb_per_copy" "GiB" METACACHE_INFERRED
            "cache of a copy on the SSDs";
        MetaCacheLeastSsdGb "mcdb.least_ssd_gb" "GB" METACACHE "least raw capacity of an SSD";
        MetaCacheSsdsAll "mcdb.ssds_all" "" OWN "SSDs in all";
        MetaCacheSsdsPerServer "mcdb.ssds_per_server" "" METACACHE
            "SSDs of a server that cache databases";
        MetaCacheSsdShare "mcdb.ssd_share" "" METACACHE
            "capacity of SSDs by that of the databases' disks";
        // Processors and memory.
        ProcessorUtilWorst "cpu.util_worst" "" OWN "share of the processors used at the worst";
        ProcessorUtilWorstPlayed "cpu.util_worst_played" "" OWN
            "share used in the worst failure that was played through";
        CostAll "cost.all" "" OWN "cost in all, as far as prices are given";
        CostDisks "cost.disks" "" OWN "cost of the disks";
        CostEnergy "cost.energy" "" OWN "cost of energy";
        CostMemory "cost.memory" "" OWN "cost of the memory";
        CostRack "cost.rack" "" OWN "cost of the rack units";
        CostServers "cost.servers" "" OWN "cost of the servers";
        CostSsds "cost.ssds" "" OWN "cost of the SSDs";
        CostSystemDisks "cost.system_disks" "" OWN "cost of the system disks";
        PowerAllWatts "power.all_watts" "W" OWN "power of all servers and disks";
        RackUnitsAll "rack.units" "" OWN "rack units of all servers";
        MemoryAllGb "mem.all_gb" "GiB" OWN "memory of all servers";
        MemoryCacheGbAtThatRam "mem.cache_gb_at_that_ram" "GiB" WORKBOOK
            "database cache in the memory needed";
        MemoryCacheMbPerMailbox "mem.cache_mb_per_mailbox" "MiB" WORKBOOK
            "database cache of an active mailbox";
        MemoryMinimumGbByCopies "mem.minimum_gb_by_copies" "GiB" WORKBOOK "least memory, by copies";
        MemoryMinimumGbByCopiesLagged "mem.minimum_gb_by_copies_lagged" "GiB" WORKBOOK
            "least memory, by late copies";
        // Failures.
        FailureMaxActiveDbsDc1 "fail.max_active_dbs_dc1" "" WORKBOOK
            "most active databases to allow, first site";
        FailureMaxActiveDbsDc2 "fail.max_active_dbs_dc2" "" WORKBOOK
            "most active databases to allow, second site";
        FailureMaxPreferredActiveDbsDc1 "fail.max_preferred_active_dbs_dc1" "" WORKBOOK
            "most active databases to prefer, first site";
        FailureMaxPreferredActiveDbsDc2 "fail.max_preferred_active_dbs_dc2" "" WORKBOOK
            "most active databases to prefer, second site";
        // The queue.
        TransportDbGbPerServer "transport.db_gb_per_server" "GiB" WORKBOOK
            "queue database of a server";
        TransportLocation "transport.location" "" WORKBOOK "queue location";
        TransportMessagesPerDay "transport.messages_per_day" "" WORKBOOK "messages a day";
        TransportMessagesPerDayPerServer "transport.messages_per_day_per_server" "" WORKBOOK
            "messages a day of a server";
        TransportQueueExpirationDays "transport.queue_expiration_days" "days" INPUT
            "days that queued messages are kept";
        TransportSafetyNetDays "transport.safety_net_days" "days" INPUT
            "days that delivered messages are kept";
        // Between the sites.
        NetworkBandwidthDelayBits "net.bandwidth_delay_bits" "bits" WORKBOOK "bits on the way";
        NetworkEnvironmentMbps "net.environment_mbps" "Mb/s" WORKBOOK "all groups";
        NetworkLinkOkPeak "net.link_ok_peak" "" WORKBOOK "the link is enough in the busiest hour";
        NetworkLinkOkRpo "net.link_ok_rpo" "" WORKBOOK
            "the link is enough for the recovery point";
        NetworkLinkThroughputMbps "net.link_throughput_mbps" "Mb/s" WORKBOOK
            "link throughput";
        NetworkLogStreamsPerDag "net.log_streams_per_dag" "" WORKBOOK "log streams per DAG";
        NetworkPeakEnvironmentMbps "net.peak_environment_mbps" "Mb/s" WORKBOOK
            "all groups in the busiest hour";
        NetworkPeakIndexMbpsPerDag "net.peak_index_mbps_per_dag" "Mb/s" WORKBOOK
            "index traffic of a group in the busiest hour";
        NetworkPeakIndexMbpsPerDb "net.peak_index_mbps_per_db" "Mb/s" WORKBOOK
            "index traffic of a database in the busiest hour";
        NetworkPeakLogMbpsPerDag "net.peak_log_mbps_per_dag" "Mb/s" WORKBOOK
            "log traffic of a group in the busiest hour";
        NetworkPeakLogMbpsPerDb "net.peak_log_mbps_per_db" "Mb/s" WORKBOOK
            "log traffic of a database in the busiest hour";
        NetworkPeakTotalMbpsPerDag "net.peak_total_mbps_per_dag" "Mb/s" WORKBOOK
            "a group in the busiest hour";
        NetworkRecommendedLinkMbps "net.recommended_link_mbps" "Mb/s" OWN
            "smallest usual link for the recovery point";
        NetworkRecommendedLinkPeakMbps "net.recommended_link_peak_mbps" "Mb/s" OWN
            "smallest usual link for the busiest hour";
        NetworkRpoMbpsPerDag "net.rpo_mbps_per_dag" "Mb/s" WORKBOOK
            "a group within the recovery point";
        NetworkRpoMbpsPerDb "net.rpo_mbps_per_db" "Mb/s" WORKBOOK
            "a database within the recovery point";
    }
    each {
        DiskRawGb {
            "disk.raw_gb" "GB" INPUT "raw capacity of a disk";
            "disk.raw_gb_dc2" "GB" INPUT "raw capacity of a disk, second site";
        }
        DiskFormattedGb {
            "disk.formatted_gb" "GiB" WORKBOOK "formatted capacity of a disk";
            "disk.formatted_gb_dc2" "GiB" WORKBOOK "formatted capacity of a disk, second site";
        }
        DiskRatedIops {
            "disk.rated_iops" "1/s" INPUT "I/O of a disk";
            "disk.rated_iops_dc2" "1/s" INPUT "I/O of a disk, second site";
        }
        DiskRandomIops {
            "disk.random_iops" "1/s" WORKBOOK "usable I/O of a disk";
            "disk.random_iops_dc2" "1/s" WORKBOOK "usable I/O of a disk, second site";
        }
        DiskArchitecture {
            "disk.architecture_dc1" "" WORKBOOK "disks, first site";
            "disk.architecture_dc2" "" WORKBOOK "disks, second site";
        }
        DiskJbodDisksPerServer {
            "disk.jbod_disks_per_server_dc1" "" WORKBOOK "single disks of a server, first site";
            "disk.jbod_disks_per_server_dc2" "" WORKBOOK "single disks of a server, second site";
            "disk.jbod_disks_per_server_lagged" "" OWN
                "single disks of a server kept for late copies";
        }
        DiskRaidChoiceDb {
            "disk.raid_choice_db" "" WORKBOOK "RAID of the databases";
            "disk.raid_choice_db_dc2" "" OWN "RAID, second site";
            "disk.raid_choice_db_lagged" "" OWN "RAID, late copies";
        }
        DiskRaidDisksDb {
            "disk.raid_disks_db" "" WORKBOOK "disks of it";
            "disk.raid_disks_db_dc2" "" OWN "disks of it";
            "disk.raid_disks_db_lagged" "" OWN "disks of it";
        }
        ServerDbCopies {
            "srv.db_copies" "" WORKBOOK "copies on a server";
            "srv.db_copies_dc2" "" OWN "copies on a server, second site";
            "srv.db_copies_lagged" "" WORKBOOK "late copies on such a server";
        }
        ServerWorstActiveDbs {
            "srv.worst_active_dbs_dc1" "" WORKBOOK "active databases at the worst, first site";
            "srv.worst_active_dbs_dc2" "" WORKBOOK "active databases at the worst, second site";
            "srv.worst_active_dbs_lagged" "" OWN
                "active databases at the worst, servers kept for late copies";
        }
        ServerLagged {
            "srv.lagged_dc1" "" WORKBOOK "servers kept for late copies, first site";
            "srv.lagged_dc2" "" WORKBOOK "servers kept for late copies, second site";
        }
        CopiesLate {
            "copies.late_dc1" "" WORKBOOK "late copies on servers of their own, first site";
            "copies.late_dc2" "" WORKBOOK "late copies on servers of their own, second site";
        }
        IoDbIopsPerServer {
            "io.db_iops_per_server" "1/s" WORKBOOK "database I/O of a server";
            "io.db_iops_per_server_dc2" "1/s" OWN "database I/O of a server, second site";
            "io.db_iops_per_server_lagged" "1/s" OWN
                "database I/O of a server kept for late copies";
        }
        VolumeDbVolumes {
            "vol.db_volumes" "" WORKBOOK "database volumes of a server";
            "vol.db_volumes_dc2" "" OWN "database volumes of a server, second site";
            "vol.db_volumes_lagged" "" OWN "database volumes of a server kept for late copies";
        }
        VolumeDbVolumesGbPerServer {
            "vol.db_volumes_gb_per_server" "GiB" WORKBOOK "all database volumes of a server";
            "vol.db_volumes_gb_per_server_dc2" "GiB" OWN
                "all database volumes of a server, second site";
            "vol.db_volumes_gb_per_server_lagged" "GiB" OWN
                "all database volumes of a server kept for late copies";
        }
        MemoryCacheGb {
            "mem.cache_gb_dc1" "GiB" WORKBOOK "database cache needed, first site";
            "mem.cache_gb_dc2" "GiB" WORKBOOK "database cache needed, second site";
            "mem.cache_gb_lagged" "GiB" WORKBOOK
                "database cache needed, servers kept for late copies";
        }
        MemoryClientAccessGb {
            "mem.client_access_gb" "GiB" WORKBOOK "memory of client access, first site";
            "mem.client_access_gb_dc2" "GiB" WORKBOOK "memory of client access, second site";
            "mem.client_access_gb_lagged" "GiB" WORKBOOK
                "memory of client access, servers kept for late copies";
        }
        MemoryRamGbRaw {
            "mem.ram_gb_raw" "GiB" WORKBOOK "memory before the index and rounding, first site";
            "mem.ram_gb_raw_dc2" "GiB" WORKBOOK "memory before the index and rounding, second site";
            "mem.ram_gb_raw_lagged" "GiB" WORKBOOK
                "memory before the index and rounding, servers kept for late copies";
        }
        MemoryContentIndexGb {
            "mem.content_index_gb" "GiB" WORKBOOK "memory of the content index, first site";
            "mem.content_index_gb_dc2" "GiB" WORKBOOK "memory of the content index, second site";
            "mem.content_index_gb_lagged" "GiB" WORKBOOK
                "memory of the content index, servers kept for late copies";
        }
        MemoryRamGb {
            "mem.ram_gb_dc1" "GiB" WORKBOOK "memory that the load needs, first site";
            "mem.ram_gb_dc2" "GiB" WORKBOOK "memory that the load needs, second site";
            "mem.ram_gb_lagged" "GiB" WORKBOOK
                "memory that the load needs, servers kept for late copies";
        }
        MemoryBoughtGb {
            "mem.bought_gb_dc1" "GiB" OWN "memory to buy for a server, first site";
            "mem.bought_gb_dc2" "GiB" OWN "memory to buy for a server, second site";
            "mem.bought_gb_lagged" "GiB" OWN
                "memory to buy for a server, servers kept for late copies";
        }
        ServersCores {
            "servers.cores_dc1" "" INPUT "cores of a server, first site";
            "servers.cores_dc2" "" INPUT "cores of a server, second site";
            "servers.cores_lagged" "" INPUT "cores of a server kept for late copies";
        }
        ServersSpecRate {
            "servers.spec_rate_dc1" "" INPUT "SPECint rate of a server, first site";
            "servers.spec_rate_dc2" "" INPUT "SPECint rate of a server, second site";
            "servers.spec_rate_lagged" "" INPUT "SPECint rate of a server kept for late copies";
        }
        ProcessorSpecRatePerCore {
            "cpu.spec_rate_per_core_dc1" "" WORKBOOK "SPECint rate of a core, first site";
            "cpu.spec_rate_per_core_dc2" "" WORKBOOK "SPECint rate of a core, second site";
            "cpu.spec_rate_per_core_lagged" "" WORKBOOK
                "SPECint rate of a core, servers kept for late copies";
        }
        ProcessorMcyclesPerCore {
            "cpu.mcycles_per_core_dc1" "megacycles" WORKBOOK "megacycles of a core, first site";
            "cpu.mcycles_per_core_dc2" "megacycles" WORKBOOK "megacycles of a core, second site";
            "cpu.mcycles_per_core_lagged" "megacycles" WORKBOOK
                "megacycles of a core, servers kept for late copies";
        }
        ProcessorMcyclesAvailable {
            "cpu.mcycles_available_dc1" "megacycles" WORKBOOK "megacycles of a server, first site";
            "cpu.mcycles_available_dc2" "megacycles" WORKBOOK "megacycles of a server, second site";
            "cpu.mcycles_available_lagged" "megacycles" WORKBOOK
                "megacycles of a server kept for late copies";
        }
        ProcessorGcCores {
            "cpu.gc_cores_dc1" "cores" WORKBOOK "directory cores, first site";
            "cpu.gc_cores_dc2" "cores" WORKBOOK "directory cores, second site";
        }
    }
}
