"""Write the speed tables from the JSON of a benchmark run: all rows into docs/speed.md, four of them into the README.

    pytest benchmarks --benchmark-json=speed.json
    python benchmarks/report.py speed.json

Several files are joined: libraries whose import disturbs the others are run apart, with -k.

What stands between the two marker comments of each file is replaced. Cells where another library is faster stay in, in
bold. The benchmarks that have a table of their own write it into its page with `put`.
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = "hitcurve"
# What the README shows of it.
TASKS = (
    "one call: AP of 10 items, 2 relevant",
    "AP of 1,000,000 float64, 2,000 relevant, normal",
    "MAP of 10,000 queries x 1,000 float32, 20 relevant each",
    "MAP of 50,000 queries of 1 to 400 items, 3 % relevant, float64",
)
LIBRARIES = ("scikit-learn", "argsort, in numpy", "pytrec_eval", "ranx")
# What each is given; it is built before the time is taken.
GIVEN = {
    "pytrec_eval": "pytrec_eval, of dicts",
    "ranx": "ranx, of its `Qrels` and `Run`",
    "cwl_eval": "cwl_eval, of ranked gains",
    "pyndeval": "pyndeval, of its documents",
}


def time(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def cell(row, ours):
    """Another library's time as a multiple of ours, its error beside it: below 1 it is the faster one."""
    if row is None:
        return ""
    multiple = row["stats"]["min"] / ours["stats"]["min"]
    text = f"{multiple:.3g}" if multiple < 1000 else f"{multiple:,.0f}"
    return f"**{text}**{error(row)}" if multiple < 1 and not is_scale(row) else text + error(row)


def error(row):
    return "" if is_scale(row) else f" ({row['extra_info']['error']:.0e})"


def is_scale(row):
    return row["extra_info"]["reading"] is None


def table(results, wanted_tasks=None, wanted_libraries=None):
    """Lines of Markdown: a row a task, a column a library; all of them, or those wanted, in that order."""
    tasks, libraries = {}, {}
    for row in results:
        tasks.setdefault(row["group"], {})[row["extra_info"]["library"]] = row
        if row["extra_info"]["library"] != OURS:
            libraries.setdefault(row["extra_info"]["library"], row)
    columns = wanted_libraries or sorted(libraries, key=lambda name: is_scale(libraries[name]))
    yield "| task | " + " | ".join([OURS, *(GIVEN.get(name, name) for name in columns)]) + " |"
    yield "|---|" + "--:|" * (1 + len(columns))
    for task in wanted_tasks or tasks:
        rows = tasks.get(task, {})
        if OURS not in rows:
            raise SystemExit(f"{task}: {OURS} was not run")
        ours = rows[OURS]
        cells = [time(ours["stats"]["min"]) + error(ours), *(cell(rows.get(name), ours) for name in columns)]
        yield f"| {task} | " + " | ".join(cells) + " |"


def versions(machine):
    """The machine and what ran on it."""
    shown = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return f"{machine['cpu'].get('brand_raw', machine['machine'])}, {machine['system']}; {shown}."


def provenance(machine, commands, lines):
    faster = any("**" in line for line in lines)
    yield (
        "The time of hitcurve. The other columns have the times of others as multiples of it: "
        + ("bold where another library is faster. " if faster else "no other library is faster in any row. ")
        + "Brackets have the relative error against an independent count under the library's own reading of ties. "
        "Sorts and sums are there for scale, and no answers to the same question. All are given arrays, but"
        " pytrec_eval, ranx, cwl_eval and pyndeval, whose dicts and objects are built before. The minimum of several"
        " rounds, one thread."
    )
    yield versions(machine)
    files = ["speed.json"] if len(commands) == 1 else [f"speed{at}.json" for at in range(1, len(commands) + 1)]
    for command, file in zip(commands, files, strict=True):
        yield f"`{command} --benchmark-json={file}`,"
    yield f"then `python benchmarks/report.py {' '.join(files)}`."


def sections(reports):
    """What stands between the markers, by file."""
    results = [row for report in reports for row in report["benchmarks"]]
    machine, commands = reports[0]["machine_info"], [report["machine_info"]["command"] for report in reports]
    for report in reports[1:]:
        if report["machine_info"]["cpu"] != machine["cpu"]:
            raise SystemExit("the files come from different machines")
        machine["versions"] |= report["machine_info"]["versions"]
    whole = [*table(results)]
    bare = [re.sub(r" \([^()]*e[-+]\d+\)", "", line) for line in table(results, TASKS, LIBRARIES)]
    return {
        ROOT / "docs" / "speed.md": [*whole, "", *provenance(machine, commands, whole)],
        ROOT / "README.md": [*bare, "", f"One thread, {versions(machine)}"],
    }


def put(page, lines, name="speed"):
    """Write the lines between the markers of that name in a page."""
    text = page.read_text(encoding="utf-8")
    head, begin, rest = text.partition(f"<!-- {name}:begin -->\n")
    _, end, tail = rest.partition(f"<!-- {name}:end -->")
    if not begin or not end:
        raise SystemExit(f"{page}: no {begin or f'<!-- {name}:begin -->'} ... to write between")
    page.write_text(head + begin + "\n".join([*lines, ""]) + end + tail, encoding="utf-8")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Write the speed tables from a benchmark run.")
    parser.add_argument("json", type=Path, nargs="+", help="what --benchmark-json wrote")
    parser.add_argument("--print", action="store_true", help="print the tables, write nothing")
    options = parser.parse_args(arguments)
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in options.json]
    new = sections(reports)
    if options.print:
        sys.stdout.write("\n".join("\n".join(lines) for lines in new.values()) + "\n")
        return
    if any("--quick" in report["machine_info"]["command"] for report in reports):
        raise SystemExit("a --quick run has small inputs: not for the documentation")
    for page, lines in new.items():
        put(page, lines)


if __name__ == "__main__":
    main()
