#!/bin/busybox sh
# The first program of a guest that attaches a disk by iSCSI with its kernel's initiator. The command
# line names `portal` and `target`; with `account=chap` both sides prove who they are.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done < /modules
for word in $(cat /proc/cmdline); do
    case $word in
    portal=* | target=* | account=*) eval "$word" ;;
    esac
done
mkdir -p /run/lock/iscsi /etc/iscsi
echo "root::0:0:root:/:/bin/sh" > /etc/passwd # The daemon asks who speaks to it.
echo "InitiatorName=iqn.2026-11.example.guest:mail" > /etc/iscsi/initiatorname.iscsi
echo "node.session.initial_login_retry_max = 1" > /etc/iscsi/iscsid.conf
ip link set lo up
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
iscsid -f > /tmp/daemon 2>&1 &
sleep 2

node() { iscsiadm -m node -T "$target" -p "$portal" "$@" > /tmp/said 2>&1; }
setting() { node -o update -n "node.session.auth.$1" -v "$2" || cat /tmp/said; }

attach() { # WHAT
    if ! node --login; then
        echo "refused $1"
        return 1
    fi
    while [ ! -e /dev/sda ]; do sleep 1; done
    echo "attached $1"
}

detach() {
    node --logout || echo "failed to log out: $(cat /tmp/said)"
    while [ -e /dev/sda ]; do sleep 1; done
}

digest() { # FILE
    set -- $(sha256sum "$1")
    echo "$1"
}

write_files() {
    /usr/sbin/mke2fs -q -F -t ext4 /dev/sda || echo "failed to format"
    mount -t ext4 /dev/sda /mnt || echo "failed to mount"
    for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
        dd if=/dev/urandom of=/tmp/new bs=64k count=$((number * 5 % 24 + 1)) 2> /dev/null
        dd if=/tmp/new of="/mnt/file$number" bs=64k conv=fsync 2> /dev/null ||
            echo "failed to write file$number"
        echo "whole file$number $(digest /tmp/new)"
    done
    umount /mnt || echo "failed to unmount"
}

read_files() {
    mount -t ext4 /dev/sda /mnt || echo "failed to mount"
    for path in /mnt/file*; do echo "found ${path#/mnt/} $(digest "$path")"; done
    umount /mnt || echo "failed to unmount"
}

echo # The firmware left the cursor in a line of its own.
node -o new || cat /tmp/said
if [ "$account" = chap ]; then
    attach "without account" && detach
    setting authmethod CHAP
    setting username guest
    setting password wrong-secret-1
    attach "with a wrong secret" && detach
    setting password abcdefghijkl
    setting username_in "$target" # A target is called by its name.
    setting password_in not-of-this-one
    attach "with a target that proves nothing" && detach
    setting password_in mnopqrstuvwx
fi
attach "as it must be" && write_files && detach
attach "a second time" && read_files && detach || cat /tmp/said /tmp/daemon
echo "every file read"
poweroff -f
