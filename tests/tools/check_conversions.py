#!/usr/bin/env python3
"""Six chains of conversions of each public profile, then four reports of each: the same as of the
profile itself, but for its name and form, or 'haul convert' says on stderr what it lost.
usage: check_conversions.py HAUL WORK_DIR; the profiles are those of HAUL_DATA"""
import json
import os
import pathlib
import subprocess
import sys

CHAINS = (("sqlite", "sqlite"), ("sqlite", "json"), ("json", "sqlite"), ("json", "json"),
          ("sqlite", "json", "sqlite"), ("json", "sqlite", "json"))
REPORTS = (("analyze",), ("analyze", "--by", "line"), ("advise",), ("project", "--to", "h200"))


def run(haul, *arguments):
    done = subprocess.run((haul, *arguments), capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def answers(haul, profile):
    found = []
    for report in REPORTS:
        status, text, errors = run(haul, *report, str(profile), "--format", "json")
        if text:
            report = json.loads(text)
            for key in ("source", "format"):
                report.pop(key, None)
            text = json.dumps(report)
        found.append((status, text, errors.replace(str(profile), "PROFILE")))
    return found


def main(haul, work):
    traces = pathlib.Path(os.environ.get("HAUL_DATA", "../shared/data")) / "traces"
    work.mkdir(parents=True, exist_ok=True)
    profiles = sorted(p for p in traces.rglob("*")
                      if p.name.endswith((".json.gz", ".sqlite", ".nvvp", ".rpd")))
    profiles += sorted(traces.rglob("kernel_trace.csv"))
    if not profiles:
        print(f"skipped: no profiles in {traces}")
        return 77
    compared = different = 0
    for profile in profiles:
        whole = answers(haul, profile)
        for chain in CHAINS:
            source, told = profile, ""
            for i, form in enumerate(chain):
                made = work / f"{i}.{form}"
                status, _, errors = run(haul, "convert", str(source), "-o", str(made))
                if status:
                    sys.exit(f"{profile}: convert fails: {errors}")
                source, told = made, told + errors
            for report, was, now in zip(REPORTS, whole, answers(haul, source)):
                compared += 1
                if was != now:
                    different += not told
                    print(f"{profile.name}: {' '.join(report)} after {' '.join(chain)}: "
                          f"{'said: ' + told.strip() if told else 'differs, unsaid'}")
    print(f"{compared - different} of {compared} equal, or their loss is said")
    return different > 0


sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
