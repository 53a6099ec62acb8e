#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves the contracts of the sources, by WP of Frama-C, and the lemmas about bits, by z3; and short histories of a wheel, by Eva.

usage: proof.py ROOT wp [PART]...       prints each goal that was not proved, and `N of N goals`; fails if one was not
       proof.py ROOT eva FOLDER         prints each alarm of the runs of eva.c; fails if there was one
       proof.py ROOT mistakes FOLDER    makes each mistake of mistakes.txt, and of planted.txt in a proved function, in a copy in
                                        FOLDER; fails unless a goal fails each time

Each part is a file of this folder, which includes the sources, and the functions that are proved. It is the code for any
compiler (HTW_NO_BUILTINS): the unit tests compare the built-in functions of compilers with it.
"""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import bitvectors
sys.path.append(str(pathlib.Path(__file__).parents[1] / 'mutate'))
import planted  # noqa: E402

PARTS = {  # the functions that are proved
    'bits': 'htw__lowest_bit,htw__highest_bit,htw__roundest',
    'bitmap': 'htw__bitmap_has,htw__bitmap_add,htw__bitmap_remove,htw__bitmap_next',
    'histogram': 'htw__histogram_bucket_of,htw__power_bucket_of',
    'times': 'add_overflow,sub_overflow,htw__after_ns,htw__left_ns,htw__late_ns,htw__clock_earlier',
    'divisor': 'htw__multiply_high,htw__divide_power,htw__divisor_of,htw__divide,htw__divide_up',
    'queue': 'htw__delay_queue_precedes,level_of,id_of,slot_of,keys_of,level_second,least',
    'writes': 'level_lower,level_pop,offer_first,replace_first,htw__delay_queue_lower,htw__delay_queue_pop,'
              'htw__delay_queue_wants,htw__delay_queue_offer',
    'lists': 'htw__link_unlink,htw__link_insert,htw__ring_push_back,htw__ring_pop_front,htw__wheel_owns,htw__timer_id,'
             'htw__id_is_bucket,check_neighbours,htw_wheel_cancel,postpone',
    'wheel': 'htw__wheel_slot,htw__wheel_window_holds,htw__wheel_level_for',
}
PART_OF = {name: part for part, functions in PARTS.items() for name in functions.split(',')}
SOURCES = 'src/base/*.h', 'src/scheduler/*.h', 'src/wheel/*.[ch]'
OF_BITS = {'shifts.h': 136, 'bits.h': 136, 'masks.h': 136, 'histogram.h': 136, 'windows.h': 80, 'queue.h': 136,  # the size of their numbers, in bits
           'powers.h': 136, 'products.h': None}
NEED_CVC4 = {'histogram', 'writes'}  # z3 alone proves the other parts, in less than half the time
OF_WP = {'bitmap': 'members.h', 'divisor': 'divisor.c', 'wheel': 'levels.h'}
RUNS_OF_EVA = [  # the options of eva.c
    '-DSIZE=4 -DFIFO=1 -DSTART=1006 -DSTEPS=0 -DREFUSES=1 -DANY_DEADLINE=0',
    '-DSIZE=4 -DFIFO=0 -DSTART=1006 -DSTEPS=0 -DREFUSES=1 -DANY_DEADLINE=0',
    '-DSIZE=2 -DFIFO=0 -DSTART=1000 -DSTEPS=1 -DREFUSES=0 -DANY_DEADLINE=1',
    '-DSIZE=4 -DFIFO=1 -DSTART=1006 -DSTEPS=1 -DREFUSES=0 -DANY_DEADLINE=0',
    '-DSIZE=4 -DFIFO=0 -DSTART=1006 -DSTEPS=1 -DREFUSES=0 -DANY_DEADLINE=0',
]
FRAMA_C = ['frama-c', '-c11', '-machdep', 'gcc_x86_64']
DEFINES = '-cpp-extra-args=-DHTW_NO_BUILTINS -U__SIZEOF_INT128__ -D_GNU_SOURCE -Iinclude'
WP = [DEFINES, '-wp', '-wp-rte', '-wp-split', '-wp-par', '2', '-wp-cache', 'none']
EVA = ['-eva', '-eva-slevel', '1000000', '-eva-split-return', 'full', '-eva-ilevel', '64', '-eva-alloc-builtin', 'fresh',
       '-eva-no-alloc-returns-null', '-eva-no-results', '-eva-no-print', '-eva-no-show-progress', 'tests/proof/eva.c',
       'tests/support/oracle.c', 'src/base/alloc.c', *(f'src/wheel/{name}.c' for name in ('wheel', 'poll', 'fifo', 'delay_queue', 'inspect', 'dump'))]


# For a goal, on a loaded machine; none takes more than 4 alone.
TIMEOUT_S = 60
TIMEOUT_OF_MISTAKES_S = 20


def fail(text):
    sys.exit(f'proof.py: {text}')


def run_wp(root, part, select, first_only):
    """Returns the numbers of goals that were proved, and of all. `first_only`: ends with the first that was not."""
    timeout = ['-wp-timeout', str(TIMEOUT_OF_MISTAKES_S if first_only else TIMEOUT_S)]
    provers = ['-wp-prover', 'cvc4,z3' if part in NEED_CVC4 else 'z3']
    process = subprocess.Popen([*FRAMA_C, *WP, *provers, *timeout, *select, f'tests/proof/{part}.c'], cwd=root, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, 'PWD': str(root),  # by which Frama-C finds files
                                    'WHY3CONFIG': str(root / 'tests/proof/why3.conf')})
    output = []
    for line in process.stdout:
        output.append(line)
        if '[Failed]' in line:
            if first_only:
                process.kill()
                process.wait()
                return 0, 1
            print(line.rstrip())
    process.wait()
    found = re.search(r'Proved goals: +(\d+) / (\d+)', ''.join(output))
    if process.returncode != 0 or found is None:
        fail(f'Frama-C has failed:\n{"".join(output[-10:])}')
    return tuple(map(int, found.groups()))


def prove(root, part, first_only=False):
    proved, goals = run_wp(root, part, ['-wp-fct', PARTS[part]], first_only)
    if part in OF_WP:
        names = re.findall(r'lemma (\w+)', (root / 'tests/proof' / OF_WP[part]).read_text())
        more = run_wp(root, part, ['-wp-prop', ','.join(names)], first_only)
        proved, goals = proved + more[0], goals + more[1]
    return proved, goals


def copy_of(root, copy):
    shutil.rmtree(copy, ignore_errors=True)
    for name in ('src', 'include', 'tests/proof', 'tests/support'):
        shutil.copytree(root / name, copy / name)
    return copy


def run_eva(root, folder):
    """Returns the numbers of runs without an alarm, and of all. Eva reads a copy without the contracts, which are for WP."""
    copy = copy_of(root, folder / 'eva')
    for path in (copy / 'src').rglob('*.[ch]'):
        path.write_text(path.read_text().replace('/*@', '/*'))
    proved = 0
    for run in RUNS_OF_EVA:
        output = subprocess.run([*FRAMA_C, f'{DEFINES} -DHTW_CHECK_LEVEL=1 {run}', *EVA], cwd=copy, env={**os.environ, 'PWD': str(copy)},
                                capture_output=True, text=True, check=False).stdout
        if '  0 alarms generated' in output and '100% of the logical properties' in output:
            proved += 1
        else:
            print(run, *re.findall(r'\[eva:alarm\].*(?:\n  .*)*', output), sep='\n')
    return proved, len(RUNS_OF_EVA)


def sources(root):
    return [path for glob in SOURCES for path in root.glob(glob)]


def prove_bits(root, parts):
    proved = goals = 0
    included = re.findall(r'#include "(\w+\.h)"', ''.join((root / f'tests/proof/{part}.c').read_text() for part in parts))
    predicates = bitvectors.predicates(''.join(path.read_text() for path in sources(root)))
    for name in OF_BITS.keys() & included:
        for lemma, variables, formula in bitvectors.lemmas((root / 'tests/proof' / name).read_text()):
            goals += 1
            if bitvectors.is_proved(OF_BITS[name], predicates, variables, formula):
                proved += 1
            else:
                print(f'[z3] the lemma {lemma} of {name} was not proved')
    return proved, goals


def prove_all(root, parts):
    started = time.monotonic()
    results = {part: prove(root, part) for part in parts}
    results['lemmas about bits'] = prove_bits(root, parts)
    for part, (proved, goals) in results.items():
        print(f'{part}: {proved} of {goals}')
    proved, goals = (sum(numbers) for numbers in zip(*results.values()))
    print(f'{proved} of {goals} goals in {time.monotonic() - started:.0f} s')
    return proved == goals


def place_of(root, row):
    """The part and the file of the proved function in which a mistake lies; None: in none."""
    for path in sources(root):
        before, old, after = path.read_text().partition(row['OLD'])
        above = re.findall(r'^\w.*?\b(\w+)\(', before, re.MULTILINE)
        is_meant = any(fnmatch.fnmatch(path.relative_to(root), glob) for glob in row['FILES'].split())
        if is_meant and old and row['OLD'] not in after and above and above[-1] in PART_OF:
            return PART_OF[above[-1]], path
    return None


def makes_a_goal_fail(copy, row):
    """Whether the mistake is noticed."""
    part, path = place_of(copy, row)
    text = path.read_text()
    try:
        path.write_text(text.replace(row['OLD'], row['NEW']))
        proved, goals = prove(copy, part, first_only=True)
    finally:
        path.write_text(text)
    print(f'{"SURVIVED" if proved == goals else "noticed "}  {path.name}: {row["WHAT"]}', flush=True)
    return proved < goals


def make_mistakes(root, folder):
    copy = copy_of(root, folder / 'source')
    rows = list(planted.read(root / 'tests/proof/mistakes.txt'))
    for row in rows:
        if place_of(root, row) is None:
            fail(f'not once in a proved function: {row["OLD"]}')
    rows += [row for row in planted.read(root / 'tests/mutate/planted.txt') if place_of(root, row) is not None]
    for part in PARTS:
        if len(set(prove(copy, part, first_only=True))) != 1:
            fail(f'{part} is not proved without any mistake')
    noticed = sum([makes_a_goal_fail(copy, row) for row in rows])
    print(f'{noticed} of {len(rows)} mistakes noticed')
    return noticed == len(rows)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2:3] == ['wp'] and set(sys.argv[3:]) <= set(PARTS):
        return 0 if prove_all(root, sys.argv[3:] or PARTS) else 1
    if len(sys.argv) == 4 and sys.argv[2] == 'eva':
        started = time.monotonic()
        proved, runs = run_eva(root, pathlib.Path(sys.argv[3]).resolve())
        print(f'{proved} of {runs} runs in {time.monotonic() - started:.0f} s')
        return 0 if proved == runs else 1
    if len(sys.argv) == 4 and sys.argv[2] == 'mistakes':
        return 0 if make_mistakes(root, pathlib.Path(sys.argv[3]).resolve()) else 1
    sys.exit(__doc__)


sys.exit(main())
