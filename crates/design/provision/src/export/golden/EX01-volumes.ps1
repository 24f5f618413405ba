$ErrorActionPreference = 'Stop'
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB01' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB02' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB03' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB04' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeVolumes\ExVol01' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeVolumes\ExVol02' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeRestore' | Out-Null

# ERASES the disks that it names.
diskpart /s (Join-Path $PSScriptRoot 'EX01-diskpart.txt')
if ($LASTEXITCODE -ne 0) { throw 'diskpart has failed' }

Set-FileIntegrity -FileName 'C:\ExchangeVolumes\ExVol01' -Enable $false
Set-FileIntegrity -FileName 'C:\ExchangeVolumes\ExVol02' -Enable $false
Set-FileIntegrity -FileName 'C:\ExchangeRestore' -Enable $false
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB01\DB01.db' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB01\DB01.log' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB02\DB02.db' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB02\DB02.log' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB03\DB03.db' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB03\DB03.log' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB04\DB04.db' | Out-Null
New-Item -ItemType Directory -Force -Path 'C:\ExchangeDatabases\DB04\DB04.log' | Out-Null
