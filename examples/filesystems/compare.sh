#!/bin/sh
# Compares ext4, XFS, btrfs and ext4 with native encryption on one disk of this machine.
# As root on Linux:  examples/filesystems/compare.sh [DIR]
set -eu

usage() {
    cat <<'END'
usage: compare.sh [DIR]

Makes a volume in a file below DIR [default: the present folder], puts ext4, XFS, btrfs and ext4
with native encryption on it one after the other, prepares two databases on each, runs the same
load, and compares: DIR/filesystems-DATE/comparison.html. Volumes and loop devices are removed
again, whatever happens; the runs stay.

In the environment:
  SIZE      of each database [256MiB]; larger than the caches, or it is the caches that are seen
  DURATION  of each measurement [60s]
  FILESYSTEMS  which, in which order [ext4 xfs btrfs ext4-encrypted]; one that this machine cannot
            make, or only read through its cache, is skipped, and why is said
  PLIMSOLL  the program [plimsoll, else the one that cargo has built or builds here]
END
}

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=examples/common.sh
. "$here/../common.sh"

# Removes the parts of the volume that exist, in reverse order of creation.
remove_volume() {
    if [ -n "$mounted" ]; then
        umount "$work/volume" || umount --lazy "$work/volume" || true
        mounted=
    fi
    if [ -n "$device" ]; then
        losetup --detach "$device" || true
        device=
    fi
    rm -f "$work/image"
}

clean_up() {
    status=$?
    trap - EXIT INT TERM HUP
    remove_volume
    rmdir "$work/volume" "$work" 2>/dev/null || true
    exit "$status"
}

# Makes the file system $1 on the loop device; if that fails, the reason is on standard error.
make_filesystem() {
    case $1 in
    ext4) mkfs.ext4 -q -F "$device" ;;
    ext4-encrypted) mkfs.ext4 -q -F -O encrypt "$device" ;;
    xfs) mkfs.xfs -q -f "$device" ;;
    btrfs) mkfs.btrfs -q -f "$device" ;;
    esac
}

# Prints the program that makes the file system $1; fails if $1 is unknown.
maker() {
    case $1 in
    ext4 | ext4-encrypted) echo mkfs.ext4 ;;
    xfs | btrfs) echo "mkfs.$1" ;;
    *) return 1 ;;
    esac
}

# Prints the reason $2 for skipping the file system $1, removes the volume, and fails.
skip() {
    say "skipped: $1: $2"
    remove_volume
    return 1
}

# Whether the kernel has accepted the option that lets encrypted files be read past its cache. A
# kernel that does not know the option reports this only in its log.
encrypts_below_cache() {
    grep -q " $work/volume .*[ ,]inlinecrypt[ ,]" /proc/mounts
}

only_through_cache="this kernel encrypts the files of ext4 only in its cache, where no disk is measured; \
take one with CONFIG_BLK_INLINE_ENCRYPTION and CONFIG_FS_ENCRYPTION_INLINE_CRYPT"

# Mounts a new volume with the file system $1.
make_volume() {
    tool=$(maker "$1")
    command -v "$tool" >/dev/null || skip "$1" "$tool is not installed" || return 1
    truncate -s "$volume_bytes" "$work/image"
    # With direct I/O the loop device does not cache the data of the disk in memory.
    device=$(losetup --find --show --direct-io=on "$work/image") || device=
    [ -n "$device" ] || skip "$1" "no loop device past the cache" || return 1
    make_filesystem "$1" 2>"$errors" || skip "$1" "$tool: $(tail -1 "$errors")" || return 1
    options=noatime
    [ "$1" != ext4-encrypted ] || options=noatime,inlinecrypt
    mount -o "$options" "$device" "$work/volume" 2>"$errors" ||
        skip "$1" "the kernel does not mount it: $(tail -1 "$errors")" || return 1
    mounted=yes
    mkdir "$work/volume/mail"
    if [ "$1" = ext4-encrypted ]; then
        encrypts_below_cache || skip "$1" "$only_through_cache" || return 1
        # Encryption applies to files made later in an empty folder; the mount forgets the key.
        python3 "$here/encrypt.py" "$work/volume/mail" 2>"$errors" ||
            skip "$1" "$(tail -1 "$errors")" || return 1
    fi
}

write_plan() {
    cat >"$results/$1.toml" <<END
name = "$1"
[databases]
folders = ["$work/volume/mail"]
count = 2
size = "$SIZE"
[test]
duration = "$DURATION"
interval = "3s"
END
}

# Prepares and runs on the file system $1.
measure() {
    make_volume "$1" || return 0
    say "$1: prepare and run for $DURATION"
    write_plan "$1"
    if ! "$plimsoll" prepare "$results/$1.toml" --quiet; then
        say "skipped: $1: its databases could not be prepared"
    else
        # A failed or inconclusive run is compared too; its verdict is in its text.
        "$plimsoll" run "$results/$1.toml" --quiet --output "$results/$1" --name "$1" \
            >"$results/$1.txt" || true
        head -1 "$results/$1.txt" | sed "s/^/$1: /"
        [ ! -f "$results/$1/record.jsonl" ] || runs="$runs $1"
    fi
    remove_volume
}

case ${1:-} in
-h | --help) usage && exit 0 ;;
-*) usage >&2 && exit 64 ;;
esac
[ "$(uname)" = Linux ] || refuse "loop devices are Linux's; run this on Linux" 2
[ "$(id -u)" = 0 ] || refuse "mounting needs root: run it with sudo" 2
for tool in losetup mount truncate python3; do
    command -v "$tool" >/dev/null || refuse "$tool is missing: install it" 2
done
folder=$(cd "${1:-.}" && pwd) || refuse "$1: no such folder" 2
SIZE=${SIZE:-256MiB}
DURATION=${DURATION:-60s}
FILESYSTEMS=${FILESYSTEMS:-ext4 xfs btrfs ext4-encrypted}
for filesystem in $FILESYSTEMS; do
    maker "$filesystem" >/dev/null ||
        refuse "$filesystem: not known here; name ext4, xfs, btrfs or ext4-encrypted" 64
done
plimsoll=$(program)
# Databases grow under load, and file systems need space for themselves. The image is sparse, so it
# takes only the space that is written.
volume_bytes=8G
runs=
mounted=
device=
results=$folder/filesystems-$(date +%Y%m%d-%H%M%S)
work=$results/work
errors=$results/errors
mkdir -p "$work/volume"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for filesystem in $FILESYSTEMS; do
    measure "$filesystem"
done
rm -f "$errors"
cd "$results"
# shellcheck disable=SC2086  # Names of file systems hold no blanks.
set -- $runs
[ $# -ge 2 ] || refuse "fewer than two file systems were measured, so there is nothing to compare" 2
"$plimsoll" compare "$@" --format html --output comparison.html
"$plimsoll" compare "$@"
say "$results/comparison.html"
