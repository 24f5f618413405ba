#!/bin/busybox sh
# The first program of a guest whose disk is behind a flash cache. `job=write` makes a file system
# and writes files until the machine is killed; `job=read` prints what the next boot finds.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done < /modules
while [ ! -e /dev/vda ]; do sleep 1; done

digest() { # FILE
    set -- $(sha256sum "$1")
    echo "$1"
}

# `whole` is printed once the file is durable; a file that was `changed` since may hold anything.
write() { # NAME BLOCKS
    dd if=/dev/urandom of=/tmp/new bs=4k count="$2" 2> /dev/null
    echo "changed $1"
    dd if=/tmp/new of="/mnt/$1" bs=64k conv=fsync 2> /dev/null || { echo "failed to write $1"; return; }
    echo "whole $1 $(digest /tmp/new)"
}

# Reads an earlier file from the disk, so that the cache has something to keep.
read_again() { # NAME
    echo 3 > /proc/sys/vm/drop_caches
    echo "again $1 $(digest "/mnt/$1")"
}

write_on() {
    /usr/sbin/mke2fs -q -F -t ext4 /dev/vda || echo "failed to format"
    mount -t ext4 /dev/vda /mnt || echo "failed to mount"
    echo "mounted"
    number=0
    while true; do
        # Every third write replaces an earlier file.
        name=$((number % 3 == 2 ? number / 3 : number))
        write "file$name" $((1 + number * 7 % 48))
        [ $((number % 4)) != 3 ] || read_again "file$((number / 6 * 3))"
        number=$((number + 1))
    done
}

read_all() {
    mount -t ext4 /dev/vda /mnt || echo "failed to mount"
    for path in /mnt/file*; do echo "found ${path#/mnt/} $(digest "$path")"; done
    umount /mnt || echo "failed to unmount"
    echo "every file read"
    poweroff -f
}

echo # The firmware left the cursor in a line of its own.
case "$(cat /proc/cmdline)" in
*job=write*) write_on ;;
*) read_all ;;
esac
