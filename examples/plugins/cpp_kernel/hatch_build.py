"""The build of the wheel: compiles the kernel, and puts the library into the package."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "bindax_example_cpp"
LIBRARY = "kernels.dll" if os.name == "nt" else "kernels.so"


def compile_library(source: Path, library: Path) -> None:
    """Compile one C++ file to a shared library.

    Raises:
        RuntimeError: when there is no compiler, or it reports an error.
    """
    compiler = os.environ.get("CXX") or next(
        filter(None, map(shutil.which, ("c++", "clang++"))), None
    )
    if compiler is None:
        raise RuntimeError("no C++ compiler was found: install one, or name it in CXX.")
    spec = importlib.util.find_spec("jaxlib")
    if spec is None or spec.origin is None:
        raise RuntimeError("the headers for kernels are missing: they come with jaxlib.")
    include = Path(spec.origin).parent / "include"
    flags = ["-O2", "-std=c++17", "-fPIC", "-shared", f"-I{include}"]
    command = [compiler, *flags, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")


class KernelBuildHook(BuildHookInterface):
    """Called by hatchling for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and mark the wheel as one for this platform."""
        self.built = tempfile.TemporaryDirectory()
        library = Path(self.built.name) / LIBRARY
        compile_library(Path(self.root) / "src" / PACKAGE / "kernels.cc", library)
        build_data["force_include"][str(library)] = f"{PACKAGE}/{LIBRARY}"
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has a copy of."""
        self.built.cleanup()
