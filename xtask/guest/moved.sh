#!/bin/busybox sh
# The first program of a guest that moves between hosts: fio writes blocks with checksums and reads
# them back, beside reads of which eight in ten go to a tenth of their region.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done < /modules
while [ ! -e /dev/vda ]; do sleep 1; done

echo # The firmware left the cursor in a line of its own.
pass=0
while true; do
    pass=$((pass + 1))
    if fio --filename=/dev/vda --direct=1 --ioengine=psync --thread --bs=4k --randseed=$pass \
        --name=written --size=8M --rw=randwrite \
        --verify=crc32c --verify_fatal=1 --verify_backlog=128 \
        --name=read --offset=32M --size=64M --rw=randread --io_size=16M --norandommap \
        --random_distribution=zoned:80/10:20/90 > /tmp/said 2>&1
    then
        echo "pass $pass whole"
    else
        cat /tmp/said
        echo "pass $pass failed"
    fi
done
