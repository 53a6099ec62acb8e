# SPDX-License-Identifier: MIT
"""The ways in which a line of C can be broken. Each makes mutants of the lines of a file."""

import collections
import dataclasses
import re

# Lines that nothing is tried on: what they do is to check, to annotate, to hint, or nothing on Linux.
LEFT_ALONE = re.compile(
    r"HTW_ASSERT|HTW_ASSERT_WHEEL|HTW__ANNOTATE|htw__annotate|_Static_assert|HTW__STATIC_ASSERT"
    r"|__builtin_prefetch|HTW__PREFETCH|pthread_condattr_destroy|__builtin_expect|HTW__UNLIKELY|^\s*\(void\)|^\s*#|\\$")
DECLARATION = re.compile(
    r"^\s+(const|alignas\(\d+\) |static|struct|enum|union|unsigned|signed|u?int\d+_t|uintptr_t|bool|char|size_t"
    r"|ssize_t|void|double|int|long|short|htw_\w+_t|_Atomic|atomic_\w+)\b[\s\*]+\w+(\[.*\])?\s*[;=,]")
STATEMENT = re.compile(r"^\s+(?!return|break|continue|goto|case|default|else|do|if|for|while|switch)"
                       r"[\w(*+-].*;\s*$")
ENUMERATOR = re.compile(r"^\s+HTW_\w+ = [^;]*,?\s*$")  # one number is as good as another
OF_THREAD = re.compile(r"htw__(journal_)?frame_(push|pop)\(")  # of the thread alone: before a lock or after it
UNLOCK = {"htw__lock_acquire": "htw__lock_release", "htw__mutex_lock": "htw__mutex_unlock",
          "htw__registry_lock": "htw__registry_unlock", "pthread_mutex_lock": "pthread_mutex_unlock",
          "pthread_spin_lock": "pthread_spin_unlock"}
LOCK = re.compile(rf"\b({'|'.join(UNLOCK)})\((.*)\);")
UNLOCKS = re.compile("|".join(UNLOCK.values()))  # without it the next one hangs: no test needed
WAKE = re.compile(r"^\s+\w*(_wake\w*|wake_\w+|pthread_cond_(signal|broadcast)|_wait_over|_signal"
                  r"|htw__alarm_\w+)\(.*\);\s*$")
ORDER = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst)|__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)")
RELATIONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
             "==": ["!="], "!=": ["=="]}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A file with some of its lines replaced."""
    operator: str
    path: str     # under src/, or of programs/
    line: int     # from 1: the first line that differs
    lines: tuple  # (number, text) of each that differs
    before: str   # what a person is shown
    after: str
    nth: int = 1  # of those in the file with the same text

    def key(self):
        """The same as long as the text is, whatever its position."""
        return f"{self.path}: {self.before} -> {self.after}"

    def name(self):
        return self.key() + (f" (no. {self.nth})" if self.nth > 1 else "")


def masked(text):
    """The text with comments and strings blanked out, character for character."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text,
                  flags=re.DOTALL)


class Source:
    """A file under src/, and all the mutants of it."""

    def __init__(self, path, text):
        self.path = path
        self.text = text.splitlines()
        self.code = masked(text).splitlines()

    def usable(self, index):
        code = self.code[index]
        return (code.startswith("    ") and not LEFT_ALONE.search(code)
                and not ENUMERATOR.match(code))

    def is_statement(self, index):
        return (self.usable(index) and STATEMENT.match(self.code[index]) is not None
                and not DECLARATION.match(self.code[index])
                and self.code[index].count("(") == self.code[index].count(")")
                and re.search(r"(^\s*|[;{}:]|\)|\belse|\bdo)\s*$", self.code[index - 1]) is not None)

    def make(self, operator, changes):
        changes = tuple(sorted(changes.items()))
        before = " / ".join(self.text[index].strip() for index, _ in changes)
        after = " / ".join(text.strip() for _, text in changes)
        return Mutant(operator, self.path, changes[0][0] + 1,
                      tuple((index + 1, text) for index, text in changes), before, after)

    def replace(self, operator, index, start, end, new):
        line = self.text[index]
        return self.make(operator, {index: line[:start] + new + line[end:]})

    def tokens(self, pattern):
        for index, code in enumerate(self.code):
            if self.usable(index) and not DECLARATION.match(code.split("=")[0] + "="
                                                            if "=" not in code else "    "):
                for match in re.finditer(pattern, code):
                    yield index, match

    def relational(self):
        for index, match in self.tokens(r"(?<=\s)(<=|>=|==|!=|<|>)(?=\s)"):
            for new in RELATIONS[match[1]]:
                yield self.replace("relational", index, *match.span(1), new)

    def logical(self):
        for index, match in self.tokens(r"&&|\|\|"):
            yield self.replace("logical", index, *match.span(), "||" if match[0] == "&&" else "&&")
        for index, match in self.tokens(r"(?<=[\s(])!(?=[\w(*])"):
            yield self.replace("logical", index, *match.span(), "")
        for index, match in self.tokens(r"\b(true|false)\b"):
            yield self.replace("logical", index, *match.span(),
                               "false" if match[0] == "true" else "true")

    def off_by_one(self):
        for index, match in self.tokens(r"(?<=[\s(,\[])(\d+)u?(?=[\s),;\]])"):
            number = int(match[1])
            for new in ([number + 1, number - 1] if number > 0 else [1]):
                yield self.replace("off by one", index, *match.span(1), str(new))
        for index, match in self.tokens(r"(?<=[\w)\]]) ([+-]) (?=[\w(])"):
            yield self.replace("off by one", index, *match.span(1),
                               "-" if match[1] == "+" else "+")

    def deleted(self):
        for index in range(1, len(self.code)):
            if self.is_statement(index) and not LOCK.search(self.code[index]) \
                    and not UNLOCKS.search(self.code[index]) and not WAKE.match(self.code[index]):
                indent = re.match(r"\s*", self.text[index])[0]
                yield self.make("deleted statement", {index: indent + ";"})

    def swapped(self):
        """Only neighbours of which one touches what the other writes, or takes or gives a lock."""
        for index in range(1, len(self.code) - 1):
            first, second = self.code[index], self.code[index + 1]
            same_depth = re.match(r"\s*", first)[0] == re.match(r"\s*", second)[0]
            if OF_THREAD.search(first + second):
                continue
            if not (same_depth and self.is_statement(index) and self.is_statement(index + 1)):
                continue
            written = re.match(r"\s*([\w.>\-\[\]]+) [-+|&]?= ", first)
            if (written and re.search(rf"(?<![\w.>&]){re.escape(written[1])}(?!\w)", second)) \
                    or re.search(r"_lock\w*\(|_unlock\(", first + second):
                yield self.make("swapped order",
                                {index: self.text[index + 1], index + 1: self.text[index]})

    def order(self):
        for index, match in self.tokens(ORDER):
            weak = "__ATOMIC_RELAXED" if match[0].startswith("__") else "memory_order_relaxed"
            yield self.replace("weakened memory order", index, *match.span(), weak)

    def lock(self):
        """Takes away a lock with the unlocks of it in the same function."""
        for index, code in enumerate(self.code):
            match = LOCK.search(code)
            if not match or not self.usable(index):
                continue
            unlock = f"{UNLOCK[match[1]]}({match[2]});"
            changes = {index: re.match(r"\s*", self.text[index])[0] + ";"}
            for later in range(index + 1, len(self.code)):
                if self.code[later].startswith("}"):
                    break
                if unlock in self.code[later]:
                    changes[later] = self.text[later].replace(unlock, ";")
            if len(changes) > 1:
                yield self.make("removed lock", changes)

    def wake(self):
        for index, code in enumerate(self.code):
            if self.usable(index) and WAKE.match(code):
                indent = re.match(r"\s*", self.text[index])[0]
                yield self.make("removed wake-up", {index: indent + ";"})

    def mutants(self):
        seen = collections.Counter()
        for operator in [self.relational, self.logical, self.off_by_one, self.deleted,
                         self.swapped, self.order, self.lock, self.wake]:
            for mutant in operator():
                seen[mutant.key()] += 1
                yield dataclasses.replace(mutant, nth=seen[mutant.key()])


# How many of a hundred mutants an operator gets, where it finds as many.
SHARES = {"relational": 22, "logical": 14, "off by one": 14, "deleted statement": 24,
          "swapped order": 8, "weakened memory order": 6, "removed lock": 6, "removed wake-up": 6}

# What only threads show, and then the better under ThreadSanitizer.
OF_THREADS = {"weakened memory order", "removed lock", "swapped order"}
