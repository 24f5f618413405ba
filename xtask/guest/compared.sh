#!/bin/busybox sh
# The first program of a guest that has one volume as two disks: it reads both in alternation and
# prints how many requests a second each answers.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done < /modules
while [ ! -e /dev/vdb ]; do sleep 1; done

reads() { # DISK DEPTH MORE...
    disk=$1 depth=$2
    shift 2
    fio --name=read --filename="/dev/$disk" --direct=1 --ioengine=libaio --rw=randread --bs=32k \
        --iodepth="$depth" --output-format=terse --terse-version=3 "$@" 2> /tmp/wrong
}

echo # The firmware left the cursor in a line of its own.
reads vda 8 > /tmp/said || cat /tmp/said /tmp/wrong
reads vda 8 > /tmp/said || cat /tmp/said /tmp/wrong
for pair in 1 2 3 4 5; do
    for depth in 1 16; do
        for disk in vda vdb; do
            reads "$disk" "$depth" --time_based --runtime=5 > /tmp/said || cat /tmp/said /tmp/wrong
            echo "reached $disk $depth $(cut -d ';' -f 8 /tmp/said)"
        done
    done
done
echo "every read done"
poweroff -f
