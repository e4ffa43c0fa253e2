"""Recurrent cells, and the layer that applies them to sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import bindax_nn as nn
import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_nn import initializers
from bindax_nnx._paths import layer_name
from bindax_nnx.filters import All, Filter
from bindax_nnx.layers._common import (
    Initializer,
    Metadata,
    PromoteDtype,
    array_of,
    default_kernel_init,
    zeros,
)
from bindax_nnx.layers.linear import Linear
from bindax_nnx.lift.axes import Carry, StateAxes
from bindax_nnx.lift.scan import scan
from bindax_nnx.module import Module
from bindax_nnx.rng_changes import split_rngs
from bindax_nnx.rngs import Rngs, RngState, RngStream, own_stream, stream_for
from bindax_nnx.variables import Param

Activation = Callable[[Any], Any]


class RNNCell(Module):
    """Base of cells: ``cell(carry, x)`` returns the next carry and an output."""

    hidden_features: int
    param_dtype: Any
    num_feature_axes = 1
    _parts = 1

    def _keep(self, rngs: Rngs, carry_init: Initializer | None, keep_rngs: bool) -> None:
        """Keep what the first carry is made of."""
        self.carry_init = carry_init
        self.rngs = own_stream(self, rngs, "carry") if keep_rngs else None

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


class RNN(Module):
    """Applies a cell to each step of sequences.

    Args:
        cell: the cell.
        time_major: whether time is the first axis, and not the one before the features.
        return_carry: whether to return the last carry, too.
        reverse: whether to begin with the last step.
        keep_order: whether outputs of a reversed sequence are in the order of inputs.
        unroll: how many steps one round of the compiled loop makes.
        state_axes: what becomes of variables of the cell from step to step, by filter: ``Carry``,
            an axis, or None; parameters are the same for all steps.
        broadcast_rngs: which random streams of the cell give all steps of a call the same keys.
        rngs: random streams, of which the layer makes one of its own for the first carry; False
            for none.

    >>> import numpy as np
    >>> layer = RNN(GRUCell(3, 4, rngs=Rngs(0)))
    >>> layer(np.ones((2, 5, 3), np.float32)).shape
    (2, 5, 4)
    """

    time_major: bool
    return_carry: bool
    reverse: bool
    keep_order: bool
    unroll: int

    def __init__(
        self,
        cell: RNNCell,
        *,
        time_major: bool = False,
        return_carry: bool = False,
        reverse: bool = False,
        keep_order: bool = False,
        unroll: int = 1,
        state_axes: Mapping[Filter, Any] | None = None,
        broadcast_rngs: Filter = None,
        rngs: Rngs | RngStream | bool | None = None,
    ) -> None:
        self.cell = cell
        self.state_axes = StateAxes({...: Carry} if state_axes is None else state_axes)
        self.broadcast_rngs = broadcast_rngs
        self.time_major, self.return_carry = time_major, return_carry
        self.reverse, self.keep_order, self.unroll = reverse, keep_order, unroll
        stream = None if isinstance(rngs, bool) else own_stream(self, rngs, "carry")
        self.rngs: RngStream | None = stream

    def __call__(
        self,
        inputs: Any,
        *,
        initial_carry: Any = None,
        seq_lengths: Any = None,
        return_carry: bool | None = None,
        time_major: bool | None = None,
        reverse: bool | None = None,
        keep_order: bool | None = None,
        rngs: Any = None,
    ) -> Any:
        """Apply the cell.

        Args:
            inputs: of the shape ``(..., time, features)``, or with time first.
            initial_carry: the first carry.
            seq_lengths: how many steps of each sequence count, for the last carry and reversal.
            return_carry: in place of the setting of the layer; so are the others.
            time_major: in place of the setting of the layer.
            reverse: in place of the setting of the layer.
            keep_order: in place of the setting of the layer.
            rngs: random streams for the first carry.
        """
        inputs = jnp.asarray(array_of(inputs))
        with_carry = self.return_carry if return_carry is None else return_carry
        first = self.time_major if time_major is None else time_major
        backwards = self.reverse if reverse is None else reverse
        ordered = self.keep_order if keep_order is None else keep_order
        axis = 0 if first else inputs.ndim - self.cell.num_feature_axes - 1
        if backwards:
            inputs = flip_sequences(inputs, seq_lengths, axis)
        carry = initial_carry
        if carry is None:
            shape = (*inputs.shape[:axis], *inputs.shape[axis + 1 :])
            carry = self.cell.initialize_carry(shape, self.rngs if rngs is None else rngs)
        carry, carries, outputs = self._scanned(
            carry, inputs, axis, keep=seq_lengths is not None and with_carry
        )
        if carries is not None:
            carry = tree_map(lambda x: _last(x, seq_lengths), carries)
        if backwards and ordered:
            outputs = flip_sequences(outputs, seq_lengths, axis)
        return (carry, outputs) if with_carry else outputs

    def _scanned(self, carry: Any, inputs: Any, axis: int, *, keep: bool) -> tuple[Any, Any, Any]:
        """The last carry, all of them if they are kept, and the outputs."""
        shared = (Param, All(RngState, self.broadcast_rngs))
        state = StateAxes({shared: None, **self.state_axes})

        def step(cell: Any, carry: Any, x: Any) -> Any:
            carry, y = cell(carry, x)
            return (carry, carry, y) if keep else (carry, y)

        loop = scan(
            step,
            graph=True,
            graph_updates=True,
            in_axes=(state, Carry, axis),
            out_axes=(Carry, 0, axis) if keep else (Carry, axis),
            unroll=self.unroll,
        )
        split = {"splits": 1, "only": self.broadcast_rngs, "squeeze": True}
        with split_rngs(self.cell, **split, graph=True, graph_updates=True):
            results = loop(self.cell, carry, inputs)
        return results if keep else (results[0], None, results[1])


def _last(carries: Any, lengths: Any) -> Any:
    """The carry of each sequence after its last step that counts."""
    return carries[jnp.asarray(lengths) - 1, jnp.arange(carries.shape[1])]


def flip_sequences(inputs: Any, seq_lengths: Any, time_axis: int) -> Any:
    """Sequences in reverse, what is after the last step that counts still behind.

    >>> import numpy as np
    >>> flip_sequences(np.array([[1, 0, 0], [2, 3, 0]]), np.array([1, 2]), 1)
    Array([[1, 0, 0],
           [3, 2, 0]], dtype=int64)
    """
    x = jnp.asarray(inputs)
    if seq_lengths is None:
        return jnp.flip(x, axis=time_axis)
    steps = x.shape[time_axis]
    lengths = jnp.expand_dims(jnp.asarray(seq_lengths), time_axis)
    shape = [1] * lengths.ndim
    shape[time_axis] = steps
    order = (jnp.reshape(jnp.arange(steps - 1, -1, -1), shape) + lengths) % steps
    order = jnp.reshape(order, (*order.shape, *(1,) * (x.ndim - order.ndim)))
    return jnp.take_along_axis(x, order, axis=time_axis)


class Bidirectional(Module):
    """Applies one layer to sequences, another to their reverse, and merges the outputs.

    Args:
        forward_rnn: the first layer.
        backward_rnn: the second layer; its settings ``reverse`` and ``keep_order`` are not used.
        merge_fn: from the two outputs to one; concatenates them.
        time_major: whether time is the first axis.
        return_carry: whether to return the last carries, too.
        rngs: random streams, of which the layer makes one of its own for the first carries.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> there = RNN(SimpleCell(2, 3, rngs=Rngs(0)))
    >>> back = RNN(SimpleCell(2, 3, rngs=Rngs(1)))
    >>> Bidirectional(there, back)(np.ones((4, 5, 2), np.float32)).shape
    (4, 5, 6)
    """

    def __init__(
        self,
        forward_rnn: RNN,
        backward_rnn: RNN,
        *,
        merge_fn: Callable[[Any, Any], Any] = lambda a, b: jnp.concatenate([a, b], axis=-1),
        time_major: bool = False,
        return_carry: bool = False,
        rngs: Rngs | RngStream | None = None,
    ) -> None:
        self.forward_rnn, self.backward_rnn = forward_rnn, backward_rnn
        self.merge_fn, self.time_major = merge_fn, time_major
        self.return_carry = return_carry
        self.rngs: RngStream | None = own_stream(self, rngs, "carry")

    def __call__(
        self,
        inputs: Any,
        *,
        initial_carry: Any = None,
        rngs: Any = None,
        seq_lengths: Any = None,
        return_carry: bool | None = None,
        time_major: bool | None = None,
        reverse: bool | None = None,
        keep_order: bool | None = None,
    ) -> Any:
        """Apply both layers, with other settings and streams than their own if they are given.

        Like those of its layers, ``reverse`` and ``keep_order`` are not used.
        """
        first, second = (None, None) if initial_carry is None else initial_carry
        options = {
            "seq_lengths": seq_lengths,
            "return_carry": True,
            "time_major": self.time_major if time_major is None else time_major,
            "rngs": self.rngs if rngs is None else rngs,
        }
        ahead, out = self.forward_rnn(inputs, initial_carry=first, reverse=False, **options)
        back, other = self.backward_rnn(
            inputs, initial_carry=second, reverse=True, keep_order=True, **options
        )
        merged = self.merge_fn(out, other)
        with_carry = self.return_carry if return_carry is None else return_carry
        return ((ahead, back), merged) if with_carry else merged
