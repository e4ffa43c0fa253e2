"""The names of SciPy: special functions, linear algebra, distributions, signals, optimization.

The modules are loaded when they are used.

>>> import bindax.numpy as jnp
>>> from bindax.scipy import special
>>> special.expit(jnp.array([0.0]))
Array([0.5], dtype=float32)
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from bindax._aliases import modules_in as _modules_in
from bindax_core.extend import missing_attribute as _missing_attribute

vars()["__all__"] = _modules_in(__name__)


def __getattr__(name: str) -> _Any:
    if name in _modules_in(__name__):
        return _import_module(f"{__name__}.{name}")
    raise _missing_attribute(__name__, name, _modules_in(__name__))


def __dir__() -> list[str]:
    return sorted({*globals(), *_modules_in(__name__)})
