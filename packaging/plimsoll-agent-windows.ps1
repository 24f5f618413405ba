# Registers the Plimsoll agent as a scheduled task that starts with Windows, as SYSTEM.
# Usage: .\plimsoll-agent-windows.ps1 -Credentials C:\plimsoll\agent.json -Allow D:\db1,E:\db2
param(
    [Parameter(Mandatory)] [string] $Credentials,
    [Parameter(Mandatory)] [string[]] $Allow,
    [string] $Program = "$env:ProgramFiles\Plimsoll\plimsoll.exe",
    [string] $State = "$env:ProgramData\Plimsoll\agent"
)
$ErrorActionPreference = 'Stop'
$folders = ($Allow | ForEach-Object { '"{0}"' -f $_ }) -join ' '
$words = 'agent --credentials "{0}" --state "{1}" --allow {2}' -f $Credentials, $State, $folders
$action = New-ScheduledTaskAction -Execute $Program -Argument $words
$trigger = New-ScheduledTaskTrigger -AtStartup
$settings = New-ScheduledTaskSettingsSet -RestartCount 10 -RestartInterval (New-TimeSpan -Minutes 1) `
    -ExecutionTimeLimit ([TimeSpan]::Zero)
Register-ScheduledTask -TaskName 'Plimsoll agent' -Action $action -Trigger $trigger `
    -Settings $settings -User 'SYSTEM' -RunLevel Highest
Start-ScheduledTask -TaskName 'Plimsoll agent'
