#!/usr/bin/env bash
# Volumes of one server. ERASES the 15 disks in its arguments,
# in the order of the volumes, such as /dev/sdb /dev/sdc.
set -euo pipefail
root=${MAIL_ROOT:-/mnt/mail}
disks=("$@")
if [ "${#disks[@]}" -ne 15 ]; then
    echo "name 15 disks, not ${#disks[@]}" >&2
    exit 2
fi
for disk in "${disks[@]}"; do
    if [ ! -b "$disk" ] || [ -n "$(wipefs --no-act "$disk")" ]; then
        echo "$disk: no empty disk; if it is the right one, wipefs -a it" >&2
        exit 2
    fi
done

arrays=()
mdadm --create /dev/md/databases0 --level=5 --raid-devices=6 --chunk=256K "${disks[@]:0:6}"
arrays+=(/dev/md/databases0)
mdadm --create /dev/md/databases1 --level=5 --raid-devices=6 --chunk=256K "${disks[@]:6:6}"
arrays+=(/dev/md/databases1)
pvcreate "${arrays[@]}"
vgcreate mail-databases "${arrays[@]}"

arrays=()
mdadm --create /dev/md/restore0 --level=5 --raid-devices=3 --chunk=256K "${disks[@]:12:3}"
arrays+=(/dev/md/restore0)
pvcreate "${arrays[@]}"
vgcreate mail-restore "${arrays[@]}"

# ExVol01: databases
lvcreate --yes --size 3685376m --name ExVol01 mail-databases
device=/dev/mail-databases/ExVol01
mkfs.ext4 -F -L ExVol01 "$device"
mkdir -p "$root"/ExVol01
mount -o noatime "$device" "$root"/ExVol01
echo "LABEL=ExVol01 $root/ExVol01 ext4 noatime 0 2" >> /etc/fstab
mkdir "$root"/ExVol01/'DB01'
mkdir "$root"/ExVol01/'DB02'
mkdir "$root"/ExVol01/'DB03'
mkdir "$root"/ExVol01/'DB04'

# ExVol02: spare
lvcreate --yes --size 3685376m --name ExVol02 mail-databases
device=/dev/mail-databases/ExVol02
mkfs.ext4 -F -L ExVol02 "$device"
mkdir -p "$root"/ExVol02
mount -o noatime "$device" "$root"/ExVol02
echo "LABEL=ExVol02 $root/ExVol02 ext4 noatime 0 2" >> /etc/fstab

# Restore: restore
lvcreate --yes --size 2968576m --name Restore mail-restore
device=/dev/mail-restore/Restore
mkfs.ext4 -F -L Restore "$device"
mkdir -p "$root"/Restore
mount -o noatime "$device" "$root"/Restore
echo "LABEL=Restore $root/Restore ext4 noatime 0 2" >> /etc/fstab
