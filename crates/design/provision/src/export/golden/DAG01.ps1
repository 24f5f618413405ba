param(
    [Parameter(Mandatory = $true)] [string] $WitnessServer,
    [Parameter(Mandatory = $true)] [string] $WitnessDirectory
)
$ErrorActionPreference = 'Stop'
New-DatabaseAvailabilityGroup -Name 'DAG01' -WitnessServer $WitnessServer -WitnessDirectory $WitnessDirectory -DatabaseAvailabilityGroupIpAddresses ([System.Net.IPAddress]::None) -FileSystem ReFS
Set-DatabaseAvailabilityGroup -Identity 'DAG01' -AutoDagVolumesRootFolderPath 'C:\ExchangeVolumes' -AutoDagDatabasesRootFolderPath 'C:\ExchangeDatabases' -AutoDagDatabaseCopiesPerVolume 4 -AutoDagAutoReseedEnabled $true -AutoDagBitlockerEnabled $false -ReplayLagManagerEnabled $true -ReplicationPort 64327 -DatacenterActivationMode DagOnly -NetworkCompression Disabled

Add-DatabaseAvailabilityGroupServer -Identity 'DAG01' -MailboxServer 'EX01'
Set-MailboxServer -Identity 'EX01' -MaximumActiveDatabases 4 -MaximumPreferredActiveDatabases 2 -AutoDatabaseMountDial GoodAvailability
Add-DatabaseAvailabilityGroupServer -Identity 'DAG01' -MailboxServer 'EX02'
Set-MailboxServer -Identity 'EX02' -MaximumActiveDatabases 4 -MaximumPreferredActiveDatabases 2 -AutoDatabaseMountDial GoodAvailability
Add-DatabaseAvailabilityGroupServer -Identity 'DAG01' -MailboxServer 'EX03'
Set-MailboxServer -Identity 'EX03' -MaximumActiveDatabases 4 -MaximumPreferredActiveDatabases 2 -AutoDatabaseMountDial GoodAvailability
Add-DatabaseAvailabilityGroupServer -Identity 'DAG01' -MailboxServer 'EX04'
Set-MailboxServer -Identity 'EX04' -MaximumActiveDatabases 4 -MaximumPreferredActiveDatabases 2 -AutoDatabaseMountDial GoodAvailability

New-MailboxDatabase -Name 'DB01' -Server 'EX01' -EdbFilePath 'C:\ExchangeDatabases\DB01\DB01.db\DB01.edb' -LogFolderPath 'C:\ExchangeDatabases\DB01\DB01.log'
Mount-Database -Identity 'DB01'
New-MailboxDatabase -Name 'DB02' -Server 'EX02' -EdbFilePath 'C:\ExchangeDatabases\DB02\DB02.db\DB02.edb' -LogFolderPath 'C:\ExchangeDatabases\DB02\DB02.log'
Mount-Database -Identity 'DB02'
New-MailboxDatabase -Name 'DB03' -Server 'EX03' -EdbFilePath 'C:\ExchangeDatabases\DB03\DB03.db\DB03.edb' -LogFolderPath 'C:\ExchangeDatabases\DB03\DB03.log'
Mount-Database -Identity 'DB03'
New-MailboxDatabase -Name 'DB04' -Server 'EX04' -EdbFilePath 'C:\ExchangeDatabases\DB04\DB04.db\DB04.edb' -LogFolderPath 'C:\ExchangeDatabases\DB04\DB04.log'
Mount-Database -Identity 'DB04'
Add-MailboxDatabaseCopy -Identity 'DB01' -MailboxServer 'EX02' -ActivationPreference 2 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB01' -MailboxServer 'EX03' -ActivationPreference 3 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB01' -MailboxServer 'EX04' -ActivationPreference 4 -SeedingPostponed -ReplayLagTime 7.00:00:00 -TruncationLagTime 0.00:00:00
Add-MailboxDatabaseCopy -Identity 'DB02' -MailboxServer 'EX01' -ActivationPreference 2 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB02' -MailboxServer 'EX04' -ActivationPreference 3 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB02' -MailboxServer 'EX03' -ActivationPreference 4 -SeedingPostponed -ReplayLagTime 7.00:00:00 -TruncationLagTime 0.00:00:00
Add-MailboxDatabaseCopy -Identity 'DB03' -MailboxServer 'EX04' -ActivationPreference 2 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB03' -MailboxServer 'EX01' -ActivationPreference 3 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB03' -MailboxServer 'EX02' -ActivationPreference 4 -SeedingPostponed -ReplayLagTime 7.00:00:00 -TruncationLagTime 0.00:00:00
Add-MailboxDatabaseCopy -Identity 'DB04' -MailboxServer 'EX03' -ActivationPreference 2 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB04' -MailboxServer 'EX02' -ActivationPreference 3 -SeedingPostponed
Add-MailboxDatabaseCopy -Identity 'DB04' -MailboxServer 'EX01' -ActivationPreference 4 -SeedingPostponed -ReplayLagTime 7.00:00:00 -TruncationLagTime 0.00:00:00

# Last: adding copies is refused while logs are circular.
Set-MailboxDatabase -Identity 'DB01' -CircularLoggingEnabled $true
Set-MailboxDatabase -Identity 'DB02' -CircularLoggingEnabled $true
Set-MailboxDatabase -Identity 'DB03' -CircularLoggingEnabled $true
Set-MailboxDatabase -Identity 'DB04' -CircularLoggingEnabled $true
