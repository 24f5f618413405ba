#!/bin/busybox sh
# The first program of a guest with one volume as two disks, over vhost-user and over NBD, and with a
# disk of zeros: it reads them in turn, with one request in flight and with 16, and prints the reads
# per second of each.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done < /modules
while [ ! -e /dev/vdc ]; do sleep 1; done

# Reads per second of a disk, with so many requests in flight, measured for so many seconds.
reads() {
    fio --minimal --name=read --filename=/dev/$1 --direct=1 --ioengine=libaio --thread --bs=32k \
        --rw=randread --size=192M --norandommap --iodepth=$2 --time_based --runtime=$3 | cut -d';' -f8
}

echo # The firmware left the cursor in a line of its own.
# The cache has nearly every block after this.
reads vda 16 10 > /dev/null
for depth in 1 16; do
    for pair in 1 2 3 4 5; do
        echo "pair $depth $(reads vda $depth 4) $(reads vdb $depth 4) $(reads vdc $depth 4)"
    done
done
echo "every pair measured"
while true; do sleep 100; done
