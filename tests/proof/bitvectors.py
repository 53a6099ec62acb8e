# SPDX-License-Identifier: MIT
"""bitvectors - proves lemmas about integers for all bits: as statements of bit vectors, by z3; and lemmas about products.

A number of a lemma is a vector of `size` bits with a sign. No step may leave that range: so each variable has a bound of at most
2^64 - 1 in the lemma itself, which is refused otherwise, and `size` is chosen for the longest shift to the left. With None as
`size` the lemma is one about integers, and has no shifts.
"""
import re
import subprocess

TIMEOUT_S = 200
TOKEN = re.compile(r'\s*(<==>|==>|&&|\|\||<<|>>|<=|>=|==|!=|\(uint(?:64|32)_t\)|\w+|[-+*&|^~!<>(),])')
LEVELS = [['<==>'], ['==>'], ['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '<='], ['<<', '>>'], ['+', '-'], ['*']]
LIMITS = {'UINT32_MAX': 2**32 - 1, 'UINT64_MAX': 2**64 - 1, 'INT64_MAX': 2**63 - 1}
SMT = {'<==>': '=', '==>': '=>', '||': 'or', '&&': 'and', '|': 'bvor', '^': 'bvxor', '&': 'bvand', '==': '=', '!=': 'distinct',
       '<': 'bvslt', '<=': 'bvsle', '<<': 'bvshl', '>>': 'bvashr', '+': 'bvadd', '-': 'bvsub', '*': 'bvmul'}
SMT_OF_INTEGERS = {name: name for name in ('<', '<=', '+', '-', '*')}


class Formula:
    def __init__(self, size, text):
        self.size = size
        self.tokens = TOKEN.findall(text)
        if re.sub(r'\s', '', text) != ''.join(self.tokens):
            raise ValueError(f'not understood: {text}')

        self.smt = {**SMT, **(SMT_OF_INTEGERS if size is None else {})}

    def number(self, value):
        return str(value) if self.size is None else f'(_ bv{value} {self.size})'

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
                chain.append(f'({self.smt[operator]} {left} {right})')
                left = right
            else:
                left = f'({self.smt[operator]} {left} {right})'
        return f'(and {" ".join(chain)})' if chain else left

    def unary(self):
        if self.take('~'):
            return f'(bvnot {self.unary()})'
        if self.take('!'):
            return f'(not {self.unary()})'
        if (cast := self.take('(uint64_t)', '(uint32_t)')) is not None:
            bits = int(cast[5:7])
            return f'((_ zero_extend {self.size - bits}) ((_ extract {bits - 1} 0) {self.unary()}))'
        if self.take('('):
            inner = self.binary()
            self.need(')')
            return inner
        name = self.take()
        if self.take('('):  # a predicate
            arguments = [self.binary()]
            while self.take(','):
                arguments.append(self.binary())
            self.need(')')
            return f'({name} {" ".join(arguments)})'
        return self.number(LIMITS.get(name) or int(name)) if name in LIMITS or name.isdigit() else name

    def whole(self):
        formula = self.binary()
        if self.tokens:
            raise ValueError(f'not understood: {self.tokens}')
        return formula


def lemmas(text):
    """Name, variables and formula of each."""
    for name, variables, formula in re.findall(r'lemma (\w+): \\forall integer ([\w, ]+);([^;]+);', text):
        yield name, variables.split(', '), formula


def predicates(text):
    """Of integers alone: the names of the parameters, and the formula, of each name."""
    found = re.findall(r'predicate (\w+)\(((?:integer \w+(?:, )?)+)\) =([^;]+);', text)
    return {name: (parameters.replace('integer ', '').split(', '), formula) for name, parameters, formula in found}


def is_proved(size, defined, variables, formula):
    """`defined`: the predicates that the formula may use."""
    kind = 'Int' if size is None else f'(_ BitVec {size})'
    script, bound = '', formula.split('==>')[0]
    for name in sorted(set(re.findall(r'\w+', formula)) & set(defined)):
        parameters = ' '.join(f'({parameter} {kind})' for parameter in defined[name][0])
        script += f'(define-fun {name} ({parameters}) Bool {Formula(size, defined[name][1]).whole()})'
    for variable in variables:
        if size is not None and not re.search(rf'(<=?) {variable}( <|\b)|\b{variable} ==', bound):
            raise ValueError(f'{variable} has no bounds: {formula}')
        script += f'(declare-const {variable} {kind})'
    script += f'(assert (not {Formula(size, formula).whole()}))'
    # Shifts by a constant are much easier.
    shifts = range(64) if size is not None and re.search(r'\b0 <= n < 64', bound) else [None]
    for n in shifts:
        if n is not None:
            script += f'(push)(assert (= n (_ bv{n} {size})))(check-sat-using qfbv)(pop)'
        else:
            script += '(check-sat-using smt)' if size is None else '(check-sat)'
    answer = subprocess.run(['z3', f'-T:{TIMEOUT_S}', '-in'], input=script, capture_output=True, text=True, check=False)
    return answer.stdout.split() == ['unsat'] * len(shifts)
