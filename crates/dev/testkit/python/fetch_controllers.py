"""Unpacks outputs of RAID controllers' tools: fetch_controllers.py FOLDER.

They come with the source packages of two programs that read them, PyStorCLI2 (storcli, JSON) and
proliantutils (ssacli, text). What the packages' own parsers see of each logical drive is written to
expected.json beside them. A folder that says that it holds these is left alone.
"""

import ast
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

PACKAGES = ("PyStorCLI2==0.6.4", "proliantutils==2.16.3")


def main(folder):
    stamp = folder / "fetched.txt"
    if stamp.exists() and stamp.read_text() == "\n".join(PACKAGES):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        scratch = pathlib.Path(scratch)
        for package in PACKAGES:
            options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--dest", scratch]
            source = ["--no-binary", ":all:", package]
            subprocess.run([sys.executable, "-m", "pip", "download", *options, *source], check=True)
        for archive in scratch.glob("*.tar.gz"):
            with tarfile.open(archive) as members:
                # Releases of Python before 3.11.4 have no filter.
                safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                members.extractall(scratch, **safely)
        (storcli,) = scratch.glob("PyStorCLI2-*/")
        (ssacli,) = scratch.glob("proliantutils-*/")
        expected = {**of_storcli(storcli, folder), **of_ssacli(ssacli, folder)}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1))
    stamp.write_text("\n".join(PACKAGES))


def of_storcli(package, folder):
    """Every answer of a controller; policies as the package's VirtualDrive gives them."""
    sys.path.insert(0, str(package))
    from pystorcli.virtualdrive import VirtualDrive

    expected = {}
    data = package / "tests" / "datatest"
    for path in sorted(data.rglob("*show_J.json")):
        text = path.read_text()
        name = "_".join(path.relative_to(data).parts)
        if "__c" not in path.name:
            continue  # A list of controllers, which describes none.
        (folder / name).write_text(text)
        drives = {}
        for answer in json.loads(text)["Controllers"]:
            said = answer.get("Response Data", {})
            rows = said.get("VD LIST") or said.get("Virtual Drives") or []
            for row in rows if isinstance(rows, list) else []:
                drive = Answered(VirtualDrive, row)
                _, number = row["DG/VD"].split("/")
                drives[number] = {"level": drive.raid, "writes": drive.wrcache, "reads": drive.rdcache}
        expected[name] = drives
    return expected


class Answered:
    """A drive of the package's whose tool has given one answer."""

    def __init__(self, kind, row):
        self._kind, self._row = kind, row

    def __getattr__(self, name):
        return getattr(self._kind, name).fget(self)

    def _run(self, args):
        return self._row

    def _response_properties(self, answer):
        return answer


def of_ssacli(package, folder):
    """Every output in the package's tests; drives as its own parser nests them."""
    parse = parser(package / "proliantutils" / "hpssa" / "objects.py")
    constants = ast.parse((package / "proliantutils/tests/hpssa/raid_constants.py").read_text())
    expected = {}
    for node in constants.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        text = node.value.value
        if not isinstance(text, str) or " in Slot " not in text:
            continue
        name = f"{node.targets[0].id}.txt"
        (folder / name).write_text(text)
        drives = {}
        for controller in parse(text).values():
            for array in controller.values():
                for key, drive in array.items() if isinstance(array, dict) else []:
                    if key.startswith("Logical Drive:"):
                        drives[key.split(": ")[1]] = {
                            "level": drive.get("Fault Tolerance"),
                            "writes": (drive.get("Caching") or "").strip(),
                            "strip": drive.get("Strip Size"),
                            "device": drive.get("Disk Name"),
                        }
        expected[name] = drives
    return expected


def parser(module):
    """The functions of a module that read an output, without what the module imports."""
    wanted = ("_get_indentation", "_get_key_value", "_get_dict", "_convert_to_dict")
    tree = ast.parse(module.read_text())
    tree.body = [node for node in tree.body if getattr(node, "name", None) in wanted]
    names = {"re": re}
    exec(compile(tree, str(module), "exec"), names)
    return names["_convert_to_dict"]


main(pathlib.Path(sys.argv[1]))
