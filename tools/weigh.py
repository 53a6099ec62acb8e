#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weigh.py - the weight of the project: lines of code, their characters, and words of documents, beside their ceilings.

usage: weigh.py CEILINGS [--lower]

Run by ./dev weigh in the root of the project. Blank lines, comments, data (corpora, recorded results, pictures) and
generated files do not count. Characters are counted too, so that long lines do not pass for few lines. Each line of
CEILINGS is the name of a group, the most lines and the most thousands of characters; or the most words of documents.
Fails where a group is above its ceiling; --lower writes the ceilings again, each as low as the weight of today.
"""
import re
import subprocess
import sys
from pathlib import Path

C_LIKE = {'.c', '.h', '.cc', '.cpp', '.hpp', '.java', '.rs', '.go', '.js', '.css', '.bt', '.html', '.ts'}
HASH_LIKE = {'.py', '.pyi', '.sh', '.rb', '.php', '.build', '.toml', '.yml', '.map', '.cmake', '.txt', '.in', '.ini',
             '.bash', '.fish', '.spec', '.nix', '.bazel'}
NOT_CODE = {'bindings/rust/htw-sys/src/bindings.rs', 'tests/weight.txt'}
GROUPS = {
    'engine': ('src/base', 'src/wheel', 'src/scheduler', 'src/purgatory', 'src/threshold'),
    'port': ('src/port',),
    'observe': ('src/observe', 'src/monitor'),
    'calendar': ('src/calendar',),
    'journal': ('src/journal',),
    'relay': ('programs/relay/src', 'programs/relay/include'),
    'programs': ('programs', ':!programs/relay'),
    'bindings': ('bindings',),
    'tests': ('tests', 'programs/*/tests/*'),
    'benchmarks': ('benchmarks',),
    'build': ('tools', 'dev', '.ci', 'debian', 'packaging', '*meson.build',
              'meson_options.txt', 'CMakeLists.txt', '*.bazel'),
    'all': ('.',),
}
DOCUMENTS = {'words': ('*.md',), 'words-of-docs': ('docs/*.md',)}


def tracked(patterns):
    found = subprocess.run(['git', 'ls-files', '-z', '--', *patterns], capture_output=True, text=True, check=True)
    return sorted({Path(name) for name in found.stdout.split('\0') if name})


def is_code(path):
    if not path.is_file() or path.is_symlink() or 'corpus' in str(path):
        return False
    if str(path) in NOT_CODE or path.name in ('LICENSE', 'Cargo.lock'):
        return False
    return path.suffix in C_LIKE | HASH_LIKE or (path.suffix == '' and path.read_bytes()[:2] == b'#!')


def code_of(path):
    """The number of lines of code of a file, and of their characters."""
    text = path.read_text(errors='replace')
    if path.suffix in C_LIKE:
        text = re.sub(r'/\*.*?\*/|<!--.*?-->', lambda comment: '\n' * comment.group().count('\n'), text, flags=re.S)
        text = re.sub(r'^\s*//.*$', '', text, flags=re.M)
    else:
        text = re.sub(r'^\s*#.*$', '', text, flags=re.M)
        if path.suffix == '.py':
            text = re.sub(r'^\s*("""|\'\'\').*?\1\s*$', '', text, flags=re.S | re.M)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return len(lines), sum(map(len, lines))


def weigh():
    """By group: its lines and thousands of characters, or its words."""
    weights = {}
    for group, patterns in GROUPS.items():
        counts = [code_of(path) for path in tracked(patterns) if is_code(path)]
        weights[group] = (sum(lines for lines, _ in counts), -(-sum(count for _, count in counts) // 1000))
    for group, patterns in DOCUMENTS.items():
        weights[group] = (sum(len(path.read_text().split()) for path in tracked(patterns)),)
    return weights


def ceilings_of(path):
    rows = [line.split() for line in path.read_text().splitlines() if line and not line.startswith('#')]
    return {row[0]: tuple(map(int, row[1:])) for row in rows}


def lower(path, weights, ceilings):
    head = [line for line in path.read_text().splitlines() if line.startswith('#')]
    rows = []
    for group, weight in weights.items():
        lowest = [min(pair) for pair in zip(weight, ceilings.get(group, weight))]
        rows.append(' '.join([f'{group:13}', *(f'{number:7}' for number in lowest)]))
    path.write_text('\n'.join(head + rows) + '\n')


def main():
    path = Path(sys.argv[1])
    weights, ceilings = weigh(), ceilings_of(path)
    if sys.argv[2:] == ['--lower']:
        lower(path, weights, ceilings)
        return 0
    if weights.keys() != ceilings.keys():
        print(f'weigh: {path} has other groups than {", ".join(weights)}', file=sys.stderr)
        return 1
    above = []
    print(f'{"":13} {"lines":>8} {"at most":>8} {"k chars":>8} {"at most":>8}')
    for group, weight in weights.items():
        print(f'{group:13}', *(f'{number:8} {most:8}' for number, most in zip(weight, ceilings[group])))
        if any(number > most for number, most in zip(weight, ceilings[group])):
            above.append(group)
    if above:
        print(f'weigh: above its ceiling in {path}: {", ".join(above)}', file=sys.stderr)
    return 1 if above else 0


if __name__ == '__main__':
    sys.exit(main())
