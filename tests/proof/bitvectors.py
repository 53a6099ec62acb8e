# SPDX-License-Identifier: MIT
"""bitvectors - proves lemmas about integers for all bits: as statements of bit vectors, by z3.

A number of a lemma is a vector of `size` bits with a sign. No step may leave that range: so each variable has a bound of at most
2^64 - 1 in the lemma itself, which is refused otherwise, and `size` is chosen for the longest shift to the left.
"""
import re
import subprocess

TIMEOUT_S = 200
TOKEN = re.compile(r'\s*(<==>|==>|&&|\|\||<<|>>|<=|>=|==|!=|\(uint64_t\)|\w+|[-+*&|^~!<>(),])')
LEVELS = [['<==>'], ['==>'], ['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '<='], ['<<', '>>'], ['+', '-'], ['*']]
SMT = {'<==>': '=', '==>': '=>', '||': 'or', '&&': 'and', '|': 'bvor', '^': 'bvxor', '&': 'bvand', '==': '=', '!=': 'distinct',
       '<': 'bvslt', '<=': 'bvsle', '<<': 'bvshl', '>>': 'bvashr', '+': 'bvadd', '-': 'bvsub', '*': 'bvmul'}


class Formula:
    def __init__(self, size, text):
        self.size = size
        self.tokens = TOKEN.findall(text)
        if re.sub(r'\s', '', text) != ''.join(self.tokens):
            raise ValueError(f'not understood: {text}')

    def number(self, value):
        return f'(_ bv{value} {self.size})'

    def take(self, *wanted):
        if self.tokens and (not wanted or self.tokens[0] in wanted):
            return self.tokens.pop(0)
        return None

    def need(self, token):
        if self.take(token) is None:
            raise ValueError(f'{token} is missing before {self.tokens[:3]}')

    def binary(self, level=0):
        if level == len(LEVELS):
            return self.unary()
        left, chain = self.binary(level + 1), []
        while (operator := self.take(*LEVELS[level])) is not None:
            right = self.binary(level if operator == '==>' else level + 1)
            if LEVELS[level] == ['<', '<=']:  # 0 <= i < n
                chain.append(f'({SMT[operator]} {left} {right})')
                left = right
            else:
                left = f'({SMT[operator]} {left} {right})'
        return f'(and {" ".join(chain)})' if chain else left

    def unary(self):
        if self.take('~'):
            return f'(bvnot {self.unary()})'
        if self.take('!'):
            return f'(not {self.unary()})'
        if self.take('(uint64_t)'):
            return f'((_ zero_extend {self.size - 64}) ((_ extract 63 0) {self.unary()}))'
        if self.take('('):
            inner = self.binary()
            self.need(')')
            return inner
        name = self.take()
        if name == 'is_set':
            self.need('(')
            bits = self.binary()
            self.need(',')
            place = self.binary()
            self.need(')')
            return f'(distinct (bvand {bits} (bvshl {self.number(1)} {place})) {self.number(0)})'
        if name == 'UINT64_MAX':
            return self.number(2**64 - 1)
        return self.number(int(name)) if name.isdigit() else name


def lemmas(text):
    """Name, variables and formula of each."""
    for name, variables, formula in re.findall(r'lemma (\w+): \\forall integer ([\w, ]+);([^;]+);', text):
        yield name, variables.split(', '), formula


def is_proved(size, variables, formula):
    bound = formula.split('==>')[0]
    for variable in variables:
        if not re.search(rf'(<=?) {variable}( <|\b)|\b{variable} ==', bound):
            raise ValueError(f'{variable} has no bounds: {formula}')
    parsed = Formula(size, formula)
    statement = parsed.binary()
    if parsed.tokens:
        raise ValueError(f'not understood: {parsed.tokens}')
    script = ''.join(f'(declare-const {variable} (_ BitVec {size}))' for variable in variables) + f'(assert (not {statement}))'
    shifts = range(64) if re.search(r'\b0 <= n < 64', bound) else [None]  # shifts by a constant are much easier
    for n in shifts:
        script += '(check-sat)' if n is None else f'(push)(assert (= n {parsed.number(n)}))(check-sat-using qfbv)(pop)'
    answer = subprocess.run(['z3', f'-T:{TIMEOUT_S}', '-in'], input=script, capture_output=True, text=True, check=False)
    return answer.stdout.split() == ['unsat'] * len(shifts)
