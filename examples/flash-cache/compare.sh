#!/bin/sh
# Measures the benefit of a flash cache: one load on a slow volume without a cache, with a cold one
# and with a warm one. As root on Linux:  examples/flash-cache/compare.sh [DIR]
set -eu

usage() {
    cat <<'END'
usage: compare.sh [DIR]

Makes a volume in a file below DIR [default: the present folder] and lets a control group slow it
down to IOPS reads and as many writes a second; flash is DIR itself, which should be an SSD.
Prepares two databases, runs one load three times (before: no cache; cold: an empty cache; warm: the
same again) and compares: DIR/flash-cache-DATE/comparison.html. Volume, loop device and control group
are removed again, whatever happens; the runs stay.

In the environment:
  SIZE      of each database [256MiB]
  CACHE     size of the cache [640MiB]; smaller than the databases, and it cannot hold all of them
  IOPS      that the slow volume serves [200]
  DURATION  of each measurement [60s]
  WARM_UP   before it at most [30s]
  PLIMSOLL  the program [plimsoll, else the one that cargo has built or builds here]
END
}

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=examples/common.sh
. "$here/../common.sh"

clean_up() {
    status=$?
    trap - EXIT INT TERM HUP
    if [ -n "$mounted" ]; then
        umount "$work/slow" || umount --lazy "$work/slow" || true
    fi
    [ -z "$device" ] || losetup --detach "$device" || true
    [ -z "$group" ] || rmdir "$group" 2>/dev/null || true
    rm -f "$work/image" "$work/cache"
    rmdir "$work/slow" "$work" 2>/dev/null || true
    exit "$status"
}

# Mounts a new volume in a file.
make_volume() {
    truncate -s 8G "$work/image"
    device=$(losetup --find --show --direct-io=on "$work/image") ||
        refuse "no loop device past the cache: $work is on a file system without direct I/O" 2
    mkfs.ext4 -q -F "$device"
    mount -o noatime "$device" "$work/slow"
    mounted=yes
    mkdir "$work/slow/mail"
}

# Makes a control group, of cgroup version 1 or 2, that slows the volume down.
make_group() {
    numbers=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')
    if [ -d /sys/fs/cgroup/blkio ]; then
        group=/sys/fs/cgroup/blkio/plimsoll-$$
        mkdir "$group" || refuse "no control group can be made here" 2
        for way in read write; do
            echo "$numbers $IOPS" >"$group/blkio.throttle.${way}_iops_device"
        done
    else
        group=/sys/fs/cgroup/plimsoll-$$
        mkdir "$group" || refuse "no control group can be made here" 2
        echo "$numbers riops=$IOPS wiops=$IOPS" >"$group/io.max" ||
            refuse "this kernel or container has no io controller" 2
    fi
}

write_plan() {
    cat >"$results/$1.toml" <<END
name = "$1"
[databases]
folders = ["$work/slow/mail"]
count = 2
size = "$SIZE"
[engine]
cache_minimum = "4MiB"
cache_maximum = "8MiB"
[workload]
threads = 4
[test]
duration = "$DURATION"
warm_up_limit = "$WARM_UP"
interval = "1s"
END
    [ "$1" = before ] || cat >>"$results/$1.toml" <<END
[cache]
file = "$work/cache"
size = "$CACHE"
END
}

# Runs $1 within the control group. A failed run is compared too; its verdict is in its text.
measure() {
    say "$1: run for $DURATION"
    write_plan "$1"
    # shellcheck disable=SC2016  # The inner shell expands its own words.
    sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' run "$group" \
        "$plimsoll" run "$results/$1.toml" --quiet --output "$results/$1" --name "$1" \
        >"$results/$1.txt" || true
    head -1 "$results/$1.txt" | sed "s/^/$1: /"
    [ -f "$results/$1/record.jsonl" ] || refuse "$1: there is no run to compare" 2
}

case ${1:-} in
-h | --help) usage && exit 0 ;;
-*) usage >&2 && exit 64 ;;
esac
[ "$(uname)" = Linux ] || refuse "loop devices are Linux's; run this on Linux" 2
[ "$(id -u)" = 0 ] || refuse "mounting needs root: run it with sudo" 2
for tool in losetup mount truncate lsblk mkfs.ext4; do
    command -v "$tool" >/dev/null || refuse "$tool is missing: install it" 2
done
folder=$(cd "${1:-.}" && pwd) || refuse "$1: no such folder" 2
SIZE=${SIZE:-256MiB}
CACHE=${CACHE:-640MiB}
IOPS=${IOPS:-200}
DURATION=${DURATION:-60s}
WARM_UP=${WARM_UP:-30s}
plimsoll=$(program)
mounted=
device=
group=
results=$folder/flash-cache-$(date +%Y%m%d-%H%M%S)
work=$results/work
mkdir -p "$work/slow"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
make_volume
make_group
write_plan before
say "prepare two databases of $SIZE"
"$plimsoll" prepare "$results/before.toml" --quiet
for run in before cold warm; do
    measure "$run"
done
cd "$results"
"$plimsoll" compare before cold warm --format html --output comparison.html || true
"$plimsoll" compare before cold warm || true
say "$results/comparison.html"
