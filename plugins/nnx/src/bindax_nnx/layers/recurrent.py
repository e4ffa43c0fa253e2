"""The layers that apply recurrent cells to sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array, tree_map
from bindax_nnx.filters import All, Filter
from bindax_nnx.layers._common import (
    Layer,
    array_of,
)
from bindax_nnx.layers.cells import RNNCell
from bindax_nnx.lift.axes import Carry, StateAxes
from bindax_nnx.lift.scan import scan
from bindax_nnx.module import Module
from bindax_nnx.rng_changes import split_rngs
from bindax_nnx.rngs import Rngs, RngState, RngStream, own_stream
from bindax_nnx.variables import Param


class RNN(Layer):
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
    >>> from bindax_nnx import GRUCell
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
        axes = {...: Carry} if state_axes is None else state_axes
        self.state_axes: StateAxes = StateAxes(axes)
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


def flip_sequences(inputs: Any, seq_lengths: Any, time_axis: int) -> Array:
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
    >>> from bindax_nnx import Rngs, SimpleCell
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
        self.forward_rnn: RNN = forward_rnn
        self.backward_rnn: RNN = backward_rnn
        self.merge_fn: Callable[[Any, Any], Any] = merge_fn
        self.time_major: bool = time_major
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
