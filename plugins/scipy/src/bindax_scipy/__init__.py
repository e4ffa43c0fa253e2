"""The names of SciPy, with JAX's signatures and semantics; public as ``bindax.scipy``.

The modules are loaded when they are used: ``from bindax_scipy import linalg``.

>>> from bindax_scipy import special
>>> import bindax_numpy as jnp
>>> special.erf(jnp.array([0.0, 1.0])).round(4)
Array([0.    , 0.8427], dtype=float32)
"""

from importlib import import_module
from typing import Any

from bindax_core.extend import former_modules as _former_modules
from bindax_core.extend import missing_attribute as _missing_attribute
from bindax_core.extend import register_internal

register_internal(__file__)
_former_modules(
    __name__,
    {
        "linalg.condensed_forms": "linalg.schur_hessenberg",
        "linalg.systems": "linalg.solve_inv_det",
        "signal.spectra": "signal.stft",
        "special.entropy": "special.xlogy_softmax",
        "special.integrals": "special.exponential_integrals",
        "stats.summaries": "stats.mode_rankdata",
    },
)

_MODULES = (
    "cluster",
    "fft",
    "image",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
)

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"bindax_scipy.{name}")
    raise _missing_attribute("bindax.scipy", name, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
