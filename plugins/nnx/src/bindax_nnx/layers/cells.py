"""Recurrent cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_nn as nn
import bindax_numpy as jnp
from bindax_nn import initializers
from bindax_nnx._paths import layer_name
from bindax_nnx.layers._common import (
    Initializer,
    Metadata,
    PromoteDtype,
    check_boolean,
    default_kernel_init,
    zeros,
)
from bindax_nnx.layers.linear import Linear
from bindax_nnx.module import Module
from bindax_nnx.rngs import Rngs, RngStream, own_stream, stream_for

Activation = Callable[[Any], Any]


class RNNCell(Module):
    """Base of cells: ``cell(carry, x)`` returns the next carry and an output."""

    hidden_features: int
    param_dtype: Any
    num_feature_axes = 1
    _parts = 1

    def _keep(self, rngs: Rngs, carry_init: Initializer | None, keep_rngs: bool) -> None:
        """Keep what the first carry is made of."""
        check_boolean(type(self).__name__, "keep_rngs", keep_rngs)
        self.carry_init = carry_init
        own = own_stream(self, rngs, "carry") if keep_rngs else None
        self.rngs: RngStream | None = own

    def initialize_carry(
        self,
        input_shape: tuple[int, ...],
        rngs: Any = None,
        carry_init: Initializer | None = None,
    ) -> Any:
        """The first carry for inputs of a shape.

        Args:
            input_shape: the shape of an input of one step.
            rngs: random streams, or one; ``carry`` gives a key for each array.
            carry_init: initial values; by default those of the cell, or zeros.
        """
        own = getattr(self, "rngs", None)
        streams = own if rngs is None else rngs
        if streams is None:
            streams = Rngs(0)
        stream = streams
        if isinstance(streams, Rngs):
            stream = stream_for(streams, "carry", layer_name(self))
        shape = (*input_shape[:-1], self.hidden_features)
        init = carry_init or getattr(self, "carry_init", None) or zeros
        parts = [init(stream(), shape, self.param_dtype) for _ in range(self._parts)]
        return parts[0] if self._parts == 1 else tuple(parts)


RNNCellBase = RNNCell
"""The name that Flax has for ``RNNCell``."""


class SimpleCell(RNNCell):
    """``h = activation(W x + U h + b)``.

    Args:
        in_features: the number of features of inputs.
        hidden_features: the number of features of the carry.
        dtype: the dtype of the computation.
        param_dtype: the dtype of the parameters.
        residual: whether the former carry is added before the activation.
        activation_fn: the activation.
        kernel_init: initial values of the kernels of inputs.
        recurrent_kernel_init: initial values of those of the carry.
        bias_init: initial values of the biases.
        kernel_metadata: metadata of the variables of the kernels of inputs.
        recurrent_kernel_metadata: metadata of those of the carry.
        bias_metadata: metadata of those of the biases.
        carry_init: initial values of the first carry; zeros by default.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        keep_rngs: whether the cell keeps a random stream for the first carry.
        rngs: random streams.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> cell = SimpleCell(2, 3, rngs=Rngs(0))
    >>> carry = cell.initialize_carry((4, 2))
    >>> carry, output = cell(carry, np.ones((4, 2), np.float32))
    >>> output.shape
    (4, 3)
    """

    in_features: int
    hidden_features: int
    param_dtype: Any
    residual: bool

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        residual: bool = False,
        activation_fn: Activation = nn.tanh,
        kernel_init: Initializer = default_kernel_init,
        recurrent_kernel_init: Initializer = initializers.orthogonal(),  # noqa: B008 -- immutable
        bias_init: Initializer = zeros,
        kernel_metadata: Metadata = None,
        recurrent_kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        carry_init: Initializer | None = None,
        promote_dtype: PromoteDtype = None,
        keep_rngs: bool = False,
        rngs: Rngs,
    ) -> None:
        self._keep(rngs, carry_init, keep_rngs)
        self.in_features, self.hidden_features = in_features, hidden_features
        self.param_dtype, self.residual = param_dtype, residual
        self.activation_fn = activation_fn
        options = {"dtype": dtype, "param_dtype": param_dtype, "rngs": rngs}
        options["promote_dtype"] = promote_dtype
        self.dense_h: Linear = Linear(
            hidden_features,
            hidden_features,
            use_bias=False,
            kernel_init=recurrent_kernel_init,
            kernel_metadata=recurrent_kernel_metadata,
            **options,
        )
        self.dense_i: Linear = Linear(
            in_features,
            hidden_features,
            kernel_init=kernel_init,
            bias_init=bias_init,
            kernel_metadata=kernel_metadata,
            bias_metadata=bias_metadata,
            **options,
        )

    def __call__(self, carry: Any, inputs: Any) -> tuple[Any, Any]:
        """One step."""
        new = self.dense_i(inputs) + self.dense_h(carry)
        new = self.activation_fn(new + carry if self.residual else new)
        return new, new


class _Gated(RNNCell):
    """Base of the cells with gates, whose arguments they have in common."""

    in_features: int
    hidden_features: int
    gate_fn: Activation
    activation_fn: Activation

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn: Activation = nn.sigmoid,
        activation_fn: Activation = nn.tanh,
        kernel_init: Initializer = default_kernel_init,
        recurrent_kernel_init: Initializer = initializers.orthogonal(),  # noqa: B008 -- immutable
        bias_init: Initializer = zeros,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        kernel_metadata: Metadata = None,
        recurrent_kernel_metadata: Metadata = None,
        bias_metadata: Metadata = None,
        carry_init: Initializer | None = None,
        promote_dtype: PromoteDtype = None,
        keep_rngs: bool = False,
        rngs: Rngs,
    ) -> None:
        self._keep(rngs, carry_init, keep_rngs)
        self.in_features, self.hidden_features = in_features, hidden_features
        self.gate_fn, self.activation_fn = gate_fn, activation_fn
        self.param_dtype = param_dtype
        options = {"dtype": dtype, "param_dtype": param_dtype, "rngs": rngs}
        options["promote_dtype"] = promote_dtype
        options["bias_metadata"] = bias_metadata
        ins = {"kernel_init": kernel_init, "kernel_metadata": kernel_metadata, **options}
        hiddens = {
            "kernel_init": recurrent_kernel_init,
            "kernel_metadata": recurrent_kernel_metadata,
            **options,
        }
        self._make_layers(ins, hiddens, bias_init)

    def _make_layers(
        self, ins: dict[str, Any], hiddens: dict[str, Any], bias_init: Initializer
    ) -> None:
        raise TypeError(f"{type(self).__name__} must make its layers.")

    def _next(self, c: Any, i: Any, f: Any, g: Any, o: Any) -> tuple[Any, Any]:
        """The carry and output of an LSTM from its gates before their activations."""
        c = self.gate_fn(f) * c + self.gate_fn(i) * self.activation_fn(g)
        h = self.gate_fn(o) * self.activation_fn(c)
        return (c, h), h


class LSTMCell(_Gated):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), a layer for each gate.

    The carry is a pair of memory and output.

    Args:
        in_features: the number of features of inputs.
        hidden_features: the number of features of the carry.
        gate_fn: the activation of gates.
        activation_fn: the activation of outputs and memory.
        kernel_init: initial values of the kernels of inputs.
        recurrent_kernel_init: initial values of those of the carry.
        bias_init: initial values of the biases.
        dtype: the dtype of the computation.
        param_dtype: the dtype of the parameters.
        kernel_metadata: metadata of the variables of the kernels of inputs.
        recurrent_kernel_metadata: metadata of those of the carry.
        bias_metadata: metadata of those of the biases.
        carry_init: initial values of the first carry; zeros by default.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        keep_rngs: whether the cell keeps a random stream for the first carry.
        rngs: random streams.

    >>> import numpy as np
    >>> cell = LSTMCell(3, 4, rngs=Rngs(0))
    >>> x = np.ones((2, 3), np.float32)
    >>> carry, y = cell(cell.initialize_carry(x.shape), x)
    >>> y.shape
    (2, 4)
    """

    _parts = 2

    def _make_layers(
        self, ins: dict[str, Any], hiddens: dict[str, Any], bias_init: Initializer
    ) -> None:
        n, m = self.in_features, self.hidden_features
        for name in ("ii", "if_", "ig", "io"):
            setattr(self, name, Linear(n, m, use_bias=False, **ins))
        for name in ("hi", "hf", "hg", "ho"):
            setattr(self, name, Linear(m, m, bias_init=bias_init, **hiddens))

    ii: Linear
    if_: Linear
    ig: Linear
    io: Linear
    hi: Linear
    hf: Linear
    hg: Linear
    ho: Linear

    def __call__(self, carry: Any, inputs: Any) -> tuple[Any, Any]:
        """One step."""
        c, h = carry
        return self._next(
            c,
            self.ii(inputs) + self.hi(h),
            self.if_(inputs) + self.hf(h),
            self.ig(inputs) + self.hg(h),
            self.io(inputs) + self.ho(h),
        )


class OptimizedLSTMCell(_Gated):
    """Long short-term memory, one layer for all gates; the arguments are those of ``LSTMCell``.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> cell = OptimizedLSTMCell(2, 3, rngs=Rngs(0))
    >>> carry, output = cell(cell.initialize_carry((4, 2)), np.ones((4, 2), np.float32))
    >>> output.shape
    (4, 3)
    """

    _parts = 2

    def _make_layers(
        self, ins: dict[str, Any], hiddens: dict[str, Any], bias_init: Initializer
    ) -> None:
        n, m = self.in_features, self.hidden_features
        self.dense_i: Linear = Linear(n, 4 * m, use_bias=False, **ins)
        self.dense_h: Linear = Linear(m, 4 * m, bias_init=bias_init, **hiddens)

    def __call__(self, carry: Any, inputs: Any) -> tuple[Any, Any]:
        """One step."""
        c, h = carry
        gates = jnp.split(self.dense_i(inputs) + self.dense_h(h), 4, axis=-1)
        return self._next(c, *gates)


class GRUCell(_Gated):
    """A gated recurrent unit (Cho et al., 2014); the arguments are those of ``LSTMCell``.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> cell = GRUCell(2, 3, rngs=Rngs(0))
    >>> carry, output = cell(cell.initialize_carry((4, 2)), np.ones((4, 2), np.float32))
    >>> output.shape
    (4, 3)
    """

    def _make_layers(
        self, ins: dict[str, Any], hiddens: dict[str, Any], bias_init: Initializer
    ) -> None:
        n, m = self.in_features, self.hidden_features
        self.dense_i: Linear = Linear(n, 3 * m, bias_init=bias_init, **ins)
        self.dense_h: Linear = Linear(m, 3 * m, use_bias=False, **hiddens)

    def __call__(self, carry: Any, inputs: Any) -> tuple[Any, Any]:
        """One step."""
        xr, xz, xn = jnp.split(self.dense_i(inputs), 3, axis=-1)
        hr, hz, hn = jnp.split(self.dense_h(carry), 3, axis=-1)
        r, z = self.gate_fn(xr + hr), self.gate_fn(xz + hz)
        new = (1.0 - z) * self.activation_fn(xn + r * hn) + z * carry
        return new, new
