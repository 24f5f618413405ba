# MetaCache databases. Run this in the Exchange Management Shell of a member when
# every copy is healthy and AutoReseed works. Each member needs 2 empty SSDs of the
# same size that Windows shows with MediaType SSD. Manage-MCDB FORMATS them. On Windows
# Server 2019 it may see those of other members too: read the vendor's article
# "MCDB status is Offline and SSDs aren't formatted in Exchange Server 2019" first.
param(
    # Size of an SSD, as Get-PhysicalDisk shows it.
    [long] $SSDSizeInBytes = 1920000000000
)
$ErrorActionPreference = 'Stop'
. (Join-Path $exscripts 'Manage-MetaCacheDatabase.ps1')

Set-DatabaseAvailabilityGroup -Identity 'DAG01' -AutoDagTotalNumberOfDatabases 24 -AutoDagDatabaseCopiesPerDatabase 4 -AutoDagTotalNumberOfServers 4
Manage-MCDB -DagName 'DAG01' -ConfigureMCDBPrerequisite -SSDSizeInBytes $SSDSizeInBytes -SSDCountPerServer 2

Read-Host 'Wait until Active Directory has replicated to every member; press Enter' | Out-Null
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX01'
Manage-MCDB -DagName 'DAG01' -ConfigureMCDBOnServer -ServerName 'EX01' -SSDSizeInBytes $SSDSizeInBytes
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX02'
Manage-MCDB -DagName 'DAG01' -ConfigureMCDBOnServer -ServerName 'EX02' -SSDSizeInBytes $SSDSizeInBytes
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX03'
Manage-MCDB -DagName 'DAG01' -ConfigureMCDBOnServer -ServerName 'EX03' -SSDSizeInBytes $SSDSizeInBytes
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX04'
Manage-MCDB -DagName 'DAG01' -ConfigureMCDBOnServer -ServerName 'EX04' -SSDSizeInBytes $SSDSizeInBytes

# StorageOffline is right until here: a cache is made when its database fails over.

Read-Host 'Every database fails over now, server after server; press Enter' | Out-Null
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX01' -ForceFailover $true
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX02' -ForceFailover $true
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX03' -ForceFailover $true
Manage-MCDB -DagName 'DAG01' -ServerAllowMCDB:$true -ServerName 'EX04' -ForceFailover $true
Get-MailboxDatabaseCopyStatus '*' | Format-Table Name, MetaCacheDatabaseStatus
