#!/usr/bin/env bash
# Volumes of one server. ERASES the 3 disks in its arguments,
# in the order of the volumes, such as /dev/sdb /dev/sdc.
set -euo pipefail
root=${MAIL_ROOT:-/mnt/mail}
disks=("$@")
if [ "${#disks[@]}" -ne 3 ]; then
    echo "name 3 disks, not ${#disks[@]}" >&2
    exit 2
fi
for disk in "${disks[@]}"; do
    if [ ! -b "$disk" ] || [ -n "$(wipefs --no-act "$disk")" ]; then
        echo "$disk: no empty disk; if it is the right one, wipefs -a it" >&2
        exit 2
    fi
done

# ExVol01: databases
parted --script "${disks[0]}" mklabel gpt mkpart ExVol01 1MiB 100%
udevadm settle
device=$(lsblk -n -p -o NAME -l "${disks[0]}" | sed -n 2p)
mkfs.xfs -f -L ExVol01 "$device"
mkdir -p "$root"/ExVol01
mount -o noatime "$device" "$root"/ExVol01
echo "LABEL=ExVol01 $root/ExVol01 xfs noatime 0 2" >> /etc/fstab
mkdir "$root"/ExVol01/'DB01'
mkdir "$root"/ExVol01/'DB02'
mkdir "$root"/ExVol01/'DB03'
mkdir "$root"/ExVol01/'DB04'

# ExVol02: spare
parted --script "${disks[1]}" mklabel gpt mkpart ExVol02 1MiB 100%
udevadm settle
device=$(lsblk -n -p -o NAME -l "${disks[1]}" | sed -n 2p)
mkfs.xfs -f -L ExVol02 "$device"
mkdir -p "$root"/ExVol02
mount -o noatime "$device" "$root"/ExVol02
echo "LABEL=ExVol02 $root/ExVol02 xfs noatime 0 2" >> /etc/fstab

# Restore: restore
parted --script "${disks[2]}" mklabel gpt mkpart Restore 1MiB 100%
udevadm settle
device=$(lsblk -n -p -o NAME -l "${disks[2]}" | sed -n 2p)
mkfs.xfs -f -L Restore "$device"
mkdir -p "$root"/Restore
mount -o noatime "$device" "$root"/Restore
echo "LABEL=Restore $root/Restore xfs noatime 0 2" >> /etc/fstab
