# SPDX-License-Identifier: BSD-3-Clause
"""test_layout.py TRACE PAGE: tiercel-trace(5) tells of everything that is in a trace, and of no attribute that is not.

Prints one line a check, as the shell tests do; exit status 1 when one failed.
"""

import re
import sys

import h5py

failed = 0


def check(sentence, wrong):
    global failed               # pylint: disable=global-statement
    print(("ok - " if not wrong else "not ok - ") + sentence + (f" ({', '.join(sorted(wrong))})" if wrong else ""))
    failed += bool(wrong)


def parts(page):
    """Tags of the page's lists, by section and subsection."""
    found, section = {}, ("", "")
    for line in page.splitlines():
        if match := re.match(r"\.S([hs]) (.*)", line):
            section = (match[2], "") if match[1] == "h" else (section[0], match[2])
        elif match := re.match(r"\.It Li (\S+)", line):
            found.setdefault(section, set()).add(match[1])
    return found


def name(text):
    return re.sub(r"[^A-Za-z0-9]", "_", text)


def main():
    path, page = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        described = file.read()
    tags = parts(described)
    layout = tags[("LAYOUT", "")]
    metrics = {name(role): {name(tag) for tag in found} for (section, role), found in tags.items()
               if section.startswith("ROLES OF")}
    tables = {table[1:]: found for (section, table), found in tags.items() if section == "TABLES"}
    texts = {place: place.split("/")[1] for place in layout}
    with h5py.File(path) as trace:
        check("the page has the attributes of the file", set(trace.attrs) ^ tags[("ATTRIBUTES OF THE FILE", "")])
        unknown = set()
        for kind, count in (("counters", 1), ("series", 1), ("histograms", 3)):
            check(f"it says where {kind} are", set() if list(texts.values()).count(kind) == count else {kind})
            unknown |= {f"{kind}/{role}/{metric}" for role, group in trace[kind].items() for metric in group
                        if metric not in metrics.get(role, ())}
        check("it has every metric of every role", unknown)
        check("it has every table and column", {f"{table}/{column}" for table in ("jobs", "watches", "events")
                                                for column in trace[table] if column not in tables[table]})
        check("and no column that is not there", {f"{table}/{column}" for table in ("watches", "events")
                                                  for column in tables[table] if column not in trace[table]})
        check("it has the columns of stages and roles", {f"{group}/{column}" for group in ("stages", "roles")
                                                         for column in trace[group] if column not in described})
        check("it has all else", {f"/{group}/{item}" for group in ("config", "actors", "kinds")
                                  for item in trace[group]} - layout)
        check("and every other group", set(trace) - set(tables) - set(texts.values()))
    return failed != 0


sys.exit(main())
