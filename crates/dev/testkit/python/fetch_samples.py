"""Unpacks the sample databases of dissect.esedb's source package: fetch_samples.py FOLDER.

The version is the one of requirements.txt. A folder that says that it holds these is left alone.
"""

import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

NAMES = ("basic", "binary", "default", "index", "large", "multi", "text")


def main(folder):
    requirements = pathlib.Path(__file__).with_name("requirements.txt").read_text()
    package = re.search(r"^dissect\.esedb==.*$", requirements, re.MULTILINE).group()
    stamp = folder / "fetched.txt"
    if stamp.exists() and stamp.read_text() == package:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--dest", scratch]
        source = ["--no-binary", "dissect.esedb", package]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, *source], check=True)
        (archive,) = pathlib.Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as members:
            root = archive.name.removesuffix(".tar.gz")
            for name in NAMES:
                packed = members.extractfile(f"{root}/tests/_data/{name}.edb.gz")
                (folder / f"{name}.edb.gz").write_bytes(packed.read())
    stamp.write_text(package)


main(pathlib.Path(sys.argv[1]))
