"""leat's headers as a package of Conan 2:  conan create packaging/conan

Consumers use leat's own CMake package: find_package(leat) gives leat::leat, leat::header_only, and leat::tbb and its kin where their
libraries are found. With -o "leat/*:system_dependencies=True" xtensor and xsimd are those of the system instead of Conan's.
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load
from conan.tools.scm import Version


class LeatConan(ConanFile):
    name = "leat"
    license = "Apache-2.0"
    description = "Dataflow graphs as C++ expressions, compiled by the C++ compiler"
    topics = ("dataflow", "machine-learning", "automatic-differentiation", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"system_dependencies": [True, False]}
    default_options = {"system_dependencies": False}
    no_copy_source = True

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        numbers = load(self, os.path.join(self._checkout, "include", "leat", "core", "version.hpp"))
        self.version = ".".join(re.findall(r"^#define LEAT_VERSION_[A-Z]+ (\d+)$", numbers, re.M))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, src=self._checkout, dst=self.export_sources_folder)

    def requirements(self):
        if not self.options.system_dependencies:
            self.requires("xtensor/[>=0.24 <1]", transitive_headers=True)
            self.requires("xsimd/[>=8.1]", transitive_headers=True)

    def package_id(self):
        self.info.settings.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        least = {"gcc": "12", "clang": "16"}.get(str(self.settings.compiler))
        if least and Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration("leat needs g++ 12 or clang 19, or a later one: choose another compiler in the profile")
        if str(self.settings.compiler) == "msvc":
            raise ConanInvalidConfiguration("leat is not compiled by MSVC: choose clang-cl in the profile")

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("TESTS", "EXAMPLES", "BENCHMARKS", "TOOLS"):
            toolchain.cache_variables[f"LEAT_BUILD_{option}"] = False
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()

    def package_info(self):
        # The package's own leatConfig.cmake is found instead of one that Conan would write.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "leat")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
