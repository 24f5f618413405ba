"""Validates documents against a JSON Schema: validate.py SCHEMA FILE..., each FILE being .json,
.jsonl (every line of it) or .toml."""

import json
import sys
import tomllib
from pathlib import Path

import jsonschema


def documents(path):
    if path.suffix == ".toml":
        yield "", tomllib.loads(path.read_text())
    elif path.suffix == ".jsonl":
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield f":{number}", json.loads(line)
    else:
        yield "", json.loads(path.read_text())


schema = json.loads(Path(sys.argv[1]).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
faults = [
    f"{path}{place}: {error.json_path}: {error.message[:300]}"
    for path in sys.argv[2:]
    for place, document in documents(Path(path))
    for error in validator.iter_errors(document)
]
if faults:
    sys.exit("\n".join(faults[:20]))
