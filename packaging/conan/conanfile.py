# SPDX-License-Identifier: MIT
"""conanfile.py - packs libhtw for Conan 2, of the tree in which it stands: `conan create packaging/conan`."""
import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy

ROOT = "../.."
SOURCES = ["CMakeLists.txt", "LICENSE*", "meson.build", "include/htw/*", "src/*", "bindings/cpp/htw/*", "packaging/cmake/*"]


class Htw(ConanFile):
    name = "htw"
    description = "Hierarchical timing wheels: a timer engine for very many timeouts"
    license = "MIT", "BSD-2-Clause"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    languages = "C"
    generators = "CMakeToolchain"

    def set_version(self):
        text = (pathlib.Path(self.recipe_folder) / ROOT / "meson.build").read_text()
        self.version = re.search(r"^  version: '([\d.]+)", text, re.MULTILINE)[1]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, pathlib.Path(self.recipe_folder) / ROOT, self.export_sources_folder)

    def requirements(self): # for its header, which is compiled in
        self.requires("xxhash/0.8.2", visible=False, libs=False, run=False)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("htw needs Linux")

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"HTW_FETCH_XXHASH": "OFF"})
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE*", self.source_folder, pathlib.Path(self.package_folder) / "licenses")

    def package_info(self):
        self.cpp_info.libs = ["htw"]
        self.cpp_info.system_libs = ["pthread"]
