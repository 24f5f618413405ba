"""Compares the cache's policy with libCacheSim's S3-FIFO on the same traces, block by block.

usage: flash_cache_policy.py CURVE, the program that `cargo build --example curve` builds.
Exits with 1 if a hit ratio is more than half a point away.
"""

import random
import re
import subprocess
import sys

import libcachesim

BLOCK = 32 << 10
PAGES = 60_000
READS = 300_000
SHARES = (0.01, 0.05, 0.10, 0.30)
MOST_POINTS = 0.5


def zipf(theta, seed):
    """Reads by a power law; popular pages are scattered over the volume."""
    draw = random.Random(seed)
    weights = [1 / rank**theta for rank in range(1, PAGES + 1)]
    ranks = draw.choices(range(PAGES), weights, k=READS)
    return [rank * 7_919 % PAGES for rank in ranks]


def mail_mix(seed):
    """Reads by a power law, interleaved with a background scan and two full backups."""
    reads, scan = [], 0
    for step, page in enumerate(zipf(0.9, seed)):
        reads.append(page)
        if step % 3 == 0:
            reads.append(scan)
            scan = (scan + 1) % PAGES
        if step in (READS // 3, READS // 3 * 2):
            reads.extend(range(PAGES))
    return reads


def uniform(seed):
    draw = random.Random(seed)
    return [draw.randrange(PAGES) for _ in range(READS)]


def ours(program, pages, sizes):
    lines = (f"{at / 1000:.3f},R,{page * BLOCK},{BLOCK}\n" for at, page in enumerate(pages))
    words = [program, str(BLOCK), "--all", *map(str, sizes)]
    text = "time,op,offset,length\n" + "".join(lines)
    ran = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
    return [float(ratio) for ratio in re.findall(r"hit ratio ([0-9.]+)", ran.stdout)]


def theirs(pages, blocks):
    cache = libcachesim.S3FIFO(cache_size=blocks)
    request = libcachesim.Request()
    request.obj_size = 1
    hits = 0
    for page in pages:
        request.obj_id = page
        hits += cache.get(request)
    return hits / len(pages)


def main():
    program = sys.argv[1]
    sizes = [int(PAGES * share) for share in SHARES]
    worst = 0.0
    traces = {"zipf 0.9": zipf(0.9, 1), "mail mix": mail_mix(2), "uniform": uniform(3)}
    for name, pages in traces.items():
        for blocks, own in zip(sizes, ours(program, pages, sizes), strict=True):
            peer = theirs(pages, blocks)
            points = (own - peer) * 100
            worst = max(worst, abs(points))
            print(f"{name:9} {blocks:6} blocks: {own:.4f}, libCacheSim {peer:.4f}: {points:+.2f}")
    print(f"largest difference {worst:.2f} points, limit {MOST_POINTS}")
    return 0 if worst <= MOST_POINTS else 1


if __name__ == "__main__":
    sys.exit(main())
