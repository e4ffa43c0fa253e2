"""Every public module says in ``__all__`` what it offers, and ``help()`` lists it."""

from __future__ import annotations

import importlib
import pydoc
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bindax._aliases import ALIASES

ROOT = Path(__file__).resolve().parent.parent


def _modules(package: Path) -> Iterator[str]:
    """The public modules of a package, files of which no part begins with an underscore."""
    for file in package.rglob("*.py"):
        parts = file.relative_to(package.parent).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if not re.search(r"\._|\.demo", name):
            yield name


def _front_ends() -> Iterator[str]:
    """The facade's modules, the kernel's, the conformance suite, and each plugin's package."""
    yield from _modules(ROOT / "src/bindax")
    yield from ALIASES
    yield from ("bindax_core", "bindax_core.errors", "bindax_core.extend", "bindax_testing")
    yield from ("bindax_testing.extend", "bindax_mutation")
    yield from ("bindax_core.tree", "bindax_core.tree_util", "bindax_callbacks.debug")
    for package in (ROOT / "plugins").glob("*/src/bindax_*"):
        if package.name == "bindax_accelerator":
            continue  # nothing is imported from it, and it takes a C compiler
        yield package.name
        if (package / "extend.py").exists():
            yield f"{package.name}.extend"


FRONT_ENDS = sorted(_front_ends())


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_module_lists_its_names(name: str) -> None:
    if name.startswith("bindax_xla_backend"):
        pytest.importorskip("jaxlib")
    if name.startswith("bindax_iree"):
        pytest.importorskip("bindax_iree", reason="bindax does not need it")
    module = importlib.import_module(name)
    words = list(module.__all__)
    assert len(words) == len({*words})
    values = {word: getattr(module, word) for word in words}
    helpers = {"Any": typing.Any, "import_module": importlib.import_module, "TYPE_CHECKING": False}
    assert not [word for word, x in values.items() if word in helpers and x is helpers[word]]
    shown = {*re.findall(r"\w+", pydoc.plain(pydoc.render_doc(module)))}
    # pydoc shows modules only where they are files of the package.
    assert not [w for w, x in values.items() if w not in shown and not isinstance(x, ModuleType)]


def test_type_checkers_see_what_the_table_of_aliases_says() -> None:
    stubs = {
        ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__"): (
            file.read_text(encoding="utf-8").splitlines()[-1]
        )
        for file in (ROOT / "src/bindax").rglob("*.pyi")
    }
    assert stubs == {name: f"from {source} import *" for name, source in ALIASES.items()}


def test_docstrings_name_the_modules_that_users_import() -> None:
    random = importlib.import_module("bindax.random")
    assert "from bindax.random import key" in str(random.__doc__)


def test_importing_bindax_loads_neither_machinery_of_imports_nor_the_registry() -> None:
    unused = ("importlib.abc", "dataclasses", "bindax_core.registry._manifest")
    code = f"import sys, bindax, bindax.extend; print([m for m in {unused} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_first_compiled_function_loads_neither_loops_nor_several_processes() -> None:
    unused = ("bindax_control_flow", "bindax_parallel", "asyncio", "ssl")
    code = f"""
import sys, bindax
bindax.jit(lambda x: bindax.lax.sin(x) + 1.0)(2.0)
print([m for m in {unused} if m in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_bindax_has_what_plugins_bring() -> None:
    import bindax

    assert {"grad", "jit", "lax", "numpy", "tree", "Array", "pure_callback"} <= {*bindax.__all__}
    assert {"hookimpl", "primitive", "rules"} <= {*bindax.extend.__all__}


def test_listing_the_names_loads_nothing() -> None:
    code = """
import sys, bindax
words = bindax.__all__
print([m for m in ("bindax_transforms", "bindax_lax_basic", "pluggy") if m in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_arrays_of_the_facade_are_traced_ones_too() -> None:
    import bindax
    import bindax.numpy as jnp

    seen = []

    def f(x: typing.Any) -> typing.Any:
        seen.append(isinstance(x, bindax.Array) and isinstance(x, jnp.ndarray))
        return x * 2.0

    bindax.jit(f)(jnp.ones(2)), bindax.grad(f)(1.0), bindax.vmap(f)(jnp.ones(2))
    assert seen == [True] * 3
    assert not isinstance(np.ones(2), bindax.Array)
    with pytest.raises(TypeError, match="a type to ask for; make arrays with"):
        bindax.Array(1.0)


def test_an_array_and_its_class_list_all_methods_before_any_is_used() -> None:
    code = """
import bindax.numpy as jnp
x = jnp.asarray([1.0])
cls = type(x)
{use}
"""
    uses = (
        "assert {'sum', 'conj', 'T', 'tolist'} <= set(dir(x))",
        "assert {'sum', 'conj', 'T', 'tolist'} <= set(dir(cls))",
        "assert cls.conj(x).tolist() == [1.0] and isinstance(cls.T, property)",
        "assert not hasattr(cls, 'colour') and not hasattr(cls, '__colour__')",
    )
    for use in uses:
        subprocess.run([sys.executable, "-c", code.format(use=use)], check=True)


def test_names_do_not_depend_on_what_was_imported() -> None:
    command = (
        "import bindax; a = bindax.__all__; import bindax.jax_names; print(a == bindax.__all__)"
    )
    ran = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert ran.stdout == "True\n", ran.stderr
