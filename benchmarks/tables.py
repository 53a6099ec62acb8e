# SPDX-License-Identifier: MIT
"""Tables in Markdown of what was measured, and of what was to be reached."""


def number(value):
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def ratio(value, base):
    return None if value is None or not base else value / base


def target_table(targets):
    """Of tuples: workload, what, ">=" or "<=", the target, what was reached or None."""
    rows = []
    for workload, what, relation, target, reached in targets:
        if reached is None:
            verdict = "not measured"
        elif reached >= target if relation == ">=" else reached <= target:
            verdict = "yes"
        else:
            verdict = "**no**"
        rows.append([workload, what, f"{relation} {target:.3g}", number(reached), verdict])
    return table(["workload", "figure", "to reach", "here", "reached"], rows)
