"""Layouts: the order of the axes of arrays in memory.

>>> import bindax, bindax.numpy as jnp
>>> from bindax.experimental.layout import Format, Layout
>>> transposed = bindax.jit(jnp.transpose, out_shardings=Format(Layout.AUTO))
>>> transposed(jnp.ones((2, 3))).format.layout  # moving no element
Layout(major_to_minor=(1, 0))
"""

from bindax_core.extend import public_names as _public_names
from bindax_core.sharding import Format as Format
from bindax_core.sharding import Layout as Layout
from bindax_transforms.compilation.layout_constraint import (
    with_layout_constraint as with_layout_constraint,
)

vars()["__all__"] = _public_names(vars())
