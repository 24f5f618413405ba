#!/bin/busybox sh
# The first program of the guest: has plimsoll look at each disk, in every state of its cache.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in virtio_pci virtio_scsi sd_mod; do modprobe $module; done
# Disks are found while this goes on, and get their names in any order: addresses and serials do not
# change.
while [ ! -e /dev/sdb ]; do sleep 1; done
on=$(basename /sys/bus/scsi/devices/*:0:0:0/block/*)
off=$(basename /sys/bus/scsi/devices/*:0:1:0/block/*)
modprobe scsi_debug dev_size_mb=64
while [ ! -e /dev/sdc ]; do sleep 1; done
mke2fs -F /dev/sdc > /dev/null
nvme() { # SERIAL
    basename "$(dirname "$(dirname "$(grep -l "^$1 *$" /sys/block/nvme*/device/serial)")")"
}

look() { # CASE DISK
    mkdir -p /mnt/$2
    mount -t ext4 /dev/$2 /mnt/$2
    echo "case $1: $(cat /sys/block/$2/queue/write_cache)"
    plimsoll inspect /mnt/$2 --json | tr -d '\n' | sed 's/"check"/\n&/g' |
        sed -n 's/^"check": "\([a-z-]*\)".*"outcome": "\([a-z_]*\)".*/found \1 \2/p'
    echo # The last line of the answer has no end.
    umount /mnt/$2
}

echo # The firmware left the cursor in a line of its own.
look scsi-on $on
look scsi-off $off
look scsi-debug sdc
look nvme-on "$(nvme c)"
look nvme-off "$(nvme d)"
echo "write through" > /sys/block/$on/queue/write_cache
look kernel-told-through $on
echo "temporary write back" > "$(echo /sys/block/$off/device/scsi_disk/*/cache_type)"
look kernel-told-back $off
echo "every case looked at"
poweroff -f
