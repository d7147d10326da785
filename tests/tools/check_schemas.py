"""Holds the JSON that haul prints against docs/schema: of commands that are run here, and of those
whose output stands in tests/cli/*.expected.

usage: check_schemas.py SOURCE_DIR HAUL PROFILE WORK_DIR
A schema allows keys that are added later; here each key has to stand in it.
"""

import csv
import io
import json
import pathlib
import shutil
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

source, haul, profile, work = pathlib.Path(sys.argv[1]), *sys.argv[2:4], pathlib.Path(sys.argv[4])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
(work / "times.csv").write_text("n,seconds\n512,0.00333674\n1024,0.0264133\n")
(work / "copies.csv").write_text(
    "direction,host_memory,bytes,seconds\nHtoD,pinned,1024,2e-6\nHtoD,pinned,1048576,1e-4\n"
)
(work / "pairs.csv").write_text("mem,locality,bytes,seconds\ncpu,node,64,1e-6\ncpu,node,4096,2e-6\n")

streams = source / "examples/workloads/streams.yaml"
commands = f"""
analyze {profile}
analyze {profile} --by kernel
analyze {profile} --replay
project {profile} --to h100-pcie5 --reference {profile}
project {profile} --to h100-pcie5,gh200
advise {profile}
advise {profile} --machine gh200
compare {profile} {profile}
check {profile} --budget {source}/tests/cli/data/budgets/wide.yaml
simulate {streams} --machine k40
overlap --machine k20 --h2d 672MiB --d2h 672MiB --kernel 30ms
overlap --machine k40 --tiles product --size 4096x4096x4096 --tile 1024 --kernel 5ms
overlap --run product --device sim:k20 --machine k20
measure transfers --device sim:k20 --largest 1MiB
machine list
machine show gh200
machine show k20
machine diff a100-pcie4 k40
machine time gh200 --direction h2d --memory pinned --bytes 64MiB
machine time --model list
machine fit copies.csv -o fitted-machine.yaml
comm fit pairs.csv
comm curves summit
comm predict summit --bytes 4KiB --curve
comm predict summit --all-reduce --bytes 4KiB --nodes 2 --curve
machine show summit
kernel fit times.csv --machine gtx-680 --kernel matmul-shared -o fitted.yaml
kernel predict fitted.yaml --machine k40 --size 4096
kernel explain fitted.yaml --machine k40 --size 4096
kernel class volta_sgemm_128x64_nn some_kernel
kernel list
"""


def close(schema):
    """Refuses keys that the schema does not name."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            close(part)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


validators = {}
for path in sorted((source / "docs/schema").glob("*.json")):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    name = schema["properties"]["report"]["const"]
    validators[name] = (path.name, jsonschema.Draft202012Validator(schema))

seen = set()
bad = 0


def check(where, document):
    """Prints what of a document its schema does not allow."""
    global bad
    name = document.get("report")
    if name not in validators:
        print(f"{where}: no schema of report '{name}'")
        bad += 1
        return
    seen.add(name)
    path, validator = validators[name]
    for error in list(validator.iter_errors(document))[:5]:
        print(f"{where}: docs/schema/{path}: {error.json_path}: {error.message[:200]}")
        bad += 1




def check_tables(line, document):
    """Each array of objects is printed as CSV by its key, with as many rows."""
    global bad
    if line.startswith("machine show"):  # whose values are objects, one table in all
        return
    for key, rows in document.items():
        if not (isinstance(rows, list) and rows and isinstance(rows[0], dict)):
            continue
        ran = subprocess.run([haul, *line.split(), "--table", key], cwd=work, capture_output=True,
                             text=True)
        printed = list(csv.DictReader(io.StringIO(ran.stdout)))
        # tables of the same name within others follow
        if ran.returncode not in (0, 1) or len(printed) < len(rows) or None in printed[0]:
            print(f"haul {line} --table {key}: {len(printed)} of {len(rows)} rows\n{ran.stderr}")
            bad += 1


for line in commands.strip().splitlines():
    ran = subprocess.run(
        [haul, *line.split(), "--format", "json"], cwd=work, capture_output=True, text=True
    )
    if ran.returncode not in (0, 1):
        print(f"fails: haul {line}\n{ran.stderr}")
        bad += 1
    else:
        check(f"haul {line}", json.loads(ran.stdout))
        check_tables(line, json.loads(ran.stdout))

for path in sorted((source / "tests/cli").glob("*.expected")):
    decoder = json.JSONDecoder()
    text = path.read_text(errors="replace")
    at = text.find("\n{\n")
    while at >= 0:
        try:
            document, end = decoder.raw_decode(text, at + 1)
        except ValueError:
            document, end = {}, at + 2
        if "report" in document:
            check(f"{path.name}:{text.count(chr(10), 0, at) + 2}", document)
        at = text.find("\n{\n", end)

seen.add("ranks")  # of haul-mpi: tests/mpi/check_analyze
for name in sorted(set(validators) - seen):
    print(f"docs/schema/{validators[name][0]}: no command was checked")
    bad += 1
print(f"{len(seen)} reports, {bad} wrong")
sys.exit(bad > 0)
