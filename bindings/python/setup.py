# SPDX-License-Identifier: MIT
"""Builds the package; build_native.py says what is compiled. pyproject.toml has the rest."""
import concurrent.futures
import os
import sys

from setuptools import setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import build_native  # noqa: E402

build_native.bundle()


class ParallelBuild(build_ext):
    """Compiles the sources of one extension at the same time, not one after the other."""

    def build_extension(self, ext):
        compile_all = self.compiler.compile

        def compile_each(sources, *args, **kwargs):
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = pool.map(lambda source: compile_all([source], *args, **kwargs), sources)
                return [file for files in objects for file in files]

        self.compiler.compile = compile_each
        try:
            super().build_extension(ext)
        finally:
            self.compiler.compile = compile_all


setup(
    version=build_native.version(),
    cffi_modules=["build_native.py:describe_native"] +
                 [f"build_native.py:describe_{part}" for part in build_native.OPTIONAL
                  if build_native.has(part)],
    cmdclass={"build_ext": ParallelBuild},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
