# SPDX-License-Identifier: MIT
"""Prints what was measured as tables in Markdown.

A benchmark is a module with these names:
    TITLE                 of the report
    LABELS                the members that distinguish the rows of a workload, with their defaults;
                          "peer" has a column always, another one if a row has not the default
    COLUMNS               of each workload: metric, head of the column, divisor of the values; of
                          "metric:spread", the least and the greatest of the runs
    blocks(figures, workload)
                          optional: the tables of a workload, in place of one with these columns
If a run was done more than once, the median counts.
"""

import statistics


def number(value):
    """Three digits: more would be noise."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


def table(head, rows):
    """Columns have the same width in each row, so that it can be read without Markdown, too."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths))
                     + " |" for line in lines)


class Figures:
    """The medians, by workload, labels and metric."""

    def __init__(self, results, labels):
        self.labels = labels
        self.states = {}  # of rows without figures: why
        values = {}
        for line in results:
            row = line["workload"], tuple(line[label] for label in labels)
            if line["metric"] == "out_of_memory":
                self.states[row] = "out of memory"
            elif line["metric"] == "state":
                self.states[row] = line["value"]
            else:
                values.setdefault((row, line["metric"]), []).append(line["value"])
        self.rows_seen = dict.fromkeys([row for row, _ in values] + list(self.states))
        self.medians = {key: statistics.median(found) for key, found in values.items()}
        self.spreads = {key: (min(found), max(found)) for key, found in values.items()
                        if len(found) > 1}

    def value(self, workload, row, metric):
        """None if a run of the row has failed, even where another one has figures."""
        if (workload, row) in self.states:
            return None
        return self.medians.get(((workload, row), metric))

    def cell(self, workload, row, column):
        metric, _, divisor = column
        if metric.endswith(":spread"):
            return self.spread(workload, row, metric.removesuffix(":spread"), divisor)
        value = self.value(workload, row, metric)
        return number(None if value is None else value / divisor)

    def spread(self, workload, row, metric, divisor):
        """As text; empty if there was one run."""
        least, greatest = self.spreads.get(((workload, row), metric), (None, None))
        return "" if least is None else f"{number(least / divisor)}-{number(greatest / divisor)}"

    def state(self, workload, row):
        return self.states.get((workload, row), "")

    def rows(self, workload):
        """In the order in which they were measured first."""
        return [row for name, row in self.rows_seen if name == workload]


def workload_table(benchmark, figures, workload):
    rows = figures.rows(workload)
    shown = [label == "peer" or any(row[i] != default for row in rows)
             for i, (label, default) in enumerate(benchmark.LABELS.items())]
    columns = [column for column in benchmark.COLUMNS[workload]
               if any(figures.cell(workload, row, column) for row in rows)]
    lines = []
    for row in rows:
        cells = [figures.cell(workload, row, column) for column in columns]
        if cells and not cells[0]:
            cells[0] = figures.state(workload, row).split(":")[0]
        lines.append([str(value) for value, is_shown in zip(row, shown) if is_shown] + cells)
    head = [label for label, is_shown in zip(benchmark.LABELS, shown) if is_shown]
    return table(head + [column[1] for column in columns], lines)


def print_all(benchmark, document):
    figures = Figures(document["results"], benchmark.LABELS)
    print(f"# {benchmark.TITLE}\n")
    print(", ".join(f"{name}: {value}" for name, value in document["machine"].items()))
    for workload in benchmark.COLUMNS:
        if not figures.rows(workload):
            continue
        print(f"\n## {workload}\n")
        if hasattr(benchmark, "blocks"):
            print("\n\n".join(benchmark.blocks(figures, workload)))
        else:
            print(workload_table(benchmark, figures, workload))
