"""Rotations of space, as unit quaternions with the real part last."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import bindax_numpy as jnp
import bindax_random
from bindax_core.extend import Array
from bindax_numpy.extend import root
from bindax_scipy._operands import one_dtype

__all__ = ["Rotation", "Slerp"]


def _length(v: Any) -> Any:
    return root(jnp.sum(v * v, axis=-1, keepdims=True))


def _product(p: Any, q: Any) -> Any:
    """Hamilton's product."""
    u, a, v, b = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = a * v + b * u + jnp.cross(u, v)
    return jnp.concatenate([vector, a * b - jnp.sum(u * v, axis=-1, keepdims=True)], axis=-1)


def _axes(seq: str, lengths: Sequence[int]) -> tuple[list[int], bool]:
    """The axes that letters name, and if each rotation is about the axes of the one before."""
    if len(seq) not in lengths or not re.fullmatch("[xyz]+|[XYZ]+", seq):
        raise ValueError(
            f"Rotation: seq must be {' or '.join(map(str, lengths))} letters of 'xyz' or of 'XYZ', "
            f"but it is {seq!r:.60}."
        )
    if any(a == b for a, b in itertools.pairwise(seq)):
        raise ValueError(f"Rotation: consecutive axes must differ, but seq is {seq!r}.")
    return ["xyz".index(letter) for letter in seq.lower()], seq.isupper()


class Rotation(NamedTuple):
    """Rotations of space.

    Args:
        quat: unit quaternions, of shape ``[..., 4]``, the real part last.

    >>> turn = transform.Rotation.from_euler("z", 90, degrees=True)
    >>> jnp.round(turn.apply(jnp.array([1.0, 0.0, 0.0])), 4)
    Array([0., 1., 0.], dtype=float32)
    """

    quat: Any

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Several sequences of rotations one after the other."""
        return cls(jnp.concatenate([r.quat for r in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """From angles about one to three axes, of shape ``[..., len(seq)]``."""
        axes, intrinsic = _axes(seq, (1, 2, 3))
        (angles,) = one_dtype("Rotation.from_euler", jnp.atleast_1d(angles))
        half = (jnp.deg2rad(angles) if degrees else angles) / 2
        quat: Any = None
        for i, axis in enumerate(axes):
            direction = jnp.array(np.eye(4)[axis], angles.dtype)
            real = jnp.array(np.eye(4)[3], angles.dtype)
            h = half[..., i : i + 1]
            one = jnp.cos(h) * real + jnp.sin(h) * direction
            if quat is None:
                quat = one
            else:
                quat = _product(quat, one) if intrinsic else _product(one, quat)
        return cls(quat)

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """From orthogonal matrices, of shape ``[..., 3, 3]``."""
        (m,) = one_dtype("Rotation.from_matrix", matrix)
        diagonal = jnp.stack([m[..., i, i] for i in range(3)], axis=-1)
        trace = jnp.sum(diagonal, axis=-1)
        choices = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            parts: list[Any] = [None] * 4
            parts[i] = 1 - trace + 2 * m[..., i, i]
            parts[j] = m[..., j, i] + m[..., i, j]
            parts[k] = m[..., k, i] + m[..., i, k]
            parts[3] = m[..., k, j] - m[..., j, k]
            choices.append(jnp.stack(parts, axis=-1))
        skew = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0]]
        skew.append(m[..., 1, 0] - m[..., 0, 1])
        choices.append(jnp.stack([*skew, 1 + trace], axis=-1))
        # The largest part is divided by, whatever the rotation is.
        best = jnp.argmax(jnp.concatenate([diagonal, trace[..., None]], axis=-1), axis=-1)
        stacked = jnp.stack(choices, axis=-2)
        quat = jnp.take_along_axis(stacked, best[..., None, None], axis=-2)[..., 0, :]
        return cls(quat / _length(quat))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """From modified Rodrigues parameters, of shape ``[..., 3]``."""
        (mrp,) = one_dtype("Rotation.from_mrp", mrp)
        size = jnp.sum(mrp * mrp, axis=-1, keepdims=True) + 1
        return cls(jnp.concatenate([2 * mrp, 2 - size], axis=-1) / size)

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """From quaternions of any length but 0, of shape ``[..., 4]``, the real part last."""
        (quat,) = one_dtype("Rotation.from_quat", quat)
        return cls(quat / _length(quat))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """From vectors along the axis, whose length is the angle, of shape ``[..., 3]``."""
        (v,) = one_dtype("Rotation.from_rotvec", rotvec)
        v = jnp.deg2rad(v) if degrees else v
        square = jnp.sum(v * v, axis=-1, keepdims=True)
        small = square <= 1e-6
        angle = jnp.sqrt(jnp.where(small, 1.0, square))
        series = 0.5 - square / 48 + square * square / 3840
        scale = jnp.where(small, series, jnp.sin(angle / 2) / angle)
        near = 1 - square / 8 + square * square / 384
        real = jnp.where(small, near, jnp.cos(angle / 2))
        return cls(jnp.concatenate([scale * v, real], axis=-1))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """One rotation by nothing, or ``num`` of them."""
        quat = jnp.array([0.0, 0.0, 0.0, 1.0], dtype=dtype)
        return cls(quat if num is None else jnp.broadcast_to(quat, (num, 4)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Rotation:
        """Rotations drawn evenly, one or ``num`` of them."""
        shape = (4,) if num is None else (num, 4)
        return cls.from_quat(bindax_random.normal(random_key, shape))

    def __getitem__(self, indexer: Any) -> Rotation:
        """Some of several rotations."""
        if self.single:
            raise TypeError("Rotation: a single rotation has no elements.")
        return Rotation(self.quat[indexer])

    def __len__(self) -> int:
        """The number of rotations."""
        if self.single:
            raise TypeError("Rotation: a single rotation has no length.")
        return int(self.quat.shape[0])

    def __mul__(self, other: Any) -> Rotation:
        """The rotation by ``other``, then by this."""
        return Rotation.from_quat(_product(self.quat, other.quat))

    def apply(self, vectors: Any, inverse: bool = False) -> Array:
        """Rotated vectors, of shape ``[..., 3]``."""
        matrix = self.as_matrix()
        matrix = jnp.matrix_transpose(matrix) if inverse else matrix
        return jnp.matmul(matrix, jnp.expand_dims(jnp.asarray(vectors), -1))[..., 0]

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Angles about three axes (Bernardes and Viollet 2022)."""
        axes, intrinsic = _axes(seq, (3,))
        i, j, k = axes[::-1] if intrinsic else axes
        symmetric = i == k
        k = 3 - i - j if symmetric else k
        sign = (i - j) * (j - k) * (k - i) // 2
        q = [self.quat[..., n] for n in range(4)]
        if symmetric:
            a, b, c, d = q[3], q[i], q[j], sign * q[k]
        else:
            a, b, c, d = q[3] - q[j], q[i] + sign * q[k], q[j] + q[3], sign * q[k] - q[i]
        middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
        total, difference = jnp.arctan2(b, a), jnp.arctan2(d, c)
        # Where the first and the third axis agree the third angle is 0.
        none, half = jnp.abs(middle) <= 1e-7, jnp.abs(middle - math.pi) <= 1e-7
        turn = jnp.where(none, 2 * total, 2 * difference * (1 if intrinsic else -1))
        degenerate = none | half
        first, third = total - difference, total + difference
        if intrinsic:
            first, third = third, first
        first = jnp.where(degenerate, turn, first)
        third = jnp.where(degenerate, 0.0, third)
        if not symmetric:
            middle = middle - math.pi / 2
            first, third = (sign * first, third) if intrinsic else (first, sign * third)
        angles = jnp.stack([first, middle, third], axis=-1)
        angles = (angles + math.pi) % (2 * math.pi) - math.pi
        return jnp.rad2deg(angles) if degrees else angles

    def as_matrix(self) -> Array:
        """Orthogonal matrices, of shape ``[..., 3, 3]``."""
        x, y, z, w = (self.quat[..., n] for n in range(4))
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
        ]
        return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)

    def as_mrp(self) -> Array:
        """Modified Rodrigues parameters, of shape ``[..., 3]``."""
        q = jnp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        return q[..., :3] / (1 + q[..., 3:])

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Vectors along the axis, whose length is the angle."""
        q = jnp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        square = jnp.sum(q[..., :3] ** 2, axis=-1, keepdims=True)
        small = square <= 2.5e-7
        length = jnp.sqrt(jnp.where(small, 1.0, square))
        angle = 2 * jnp.arctan2(length, jnp.where(small, 1.0, q[..., 3:]))
        scale = jnp.where(small, 2 + square / 3, angle / length)
        return (jnp.rad2deg(scale) if degrees else scale) * q[..., :3]

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Quaternions; the canonical one of two has a real part that is not negative."""
        quat = self.quat
        if canonical:
            # The sign of the last part that is not 0, in the order real, x, y, z.
            sign: Any = jnp.zeros_like(quat[..., :1])
            for n in (3, 0, 1, 2):
                sign = jnp.where(sign == 0, jnp.sign(quat[..., n : n + 1]), sign)
            quat = jnp.where(sign < 0, -quat, quat)
        return jnp.roll(quat, 1, axis=-1) if scalar_first else quat

    def inv(self) -> Rotation:
        """The rotations back."""
        return Rotation(self.quat * jnp.array([-1, -1, -1, 1], self.quat.dtype))

    def magnitude(self) -> Array:
        """The angles, from 0 to pi."""
        length = _length(self.quat[..., :3])[..., 0]
        return 2 * jnp.arctan2(length, jnp.abs(self.quat[..., 3]))

    def mean(self, weights: Any = None) -> Rotation:
        """The mean of several rotations, with weights."""
        count = len(self)
        if weights is None:
            w = jnp.ones(count, self.quat.dtype)
        else:
            w = jnp.asarray(weights).astype(self.quat.dtype)
        if w.shape != (count,):
            raise ValueError(
                f"Rotation.mean: weights must have shape {(count,)}, as there are {count} "
                f"rotations, but they have {w.shape}."
            )
        moments = jnp.matmul(w * self.quat.T, self.quat)
        return Rotation(jnp.linalg.eigh(moments)[1][:, -1])

    @property
    def single(self) -> bool:
        """True for one rotation, False for a sequence."""
        return self.quat.ndim == 1


class Slerp(NamedTuple):
    """Rotations between given ones, at constant speed; made by ``Slerp.init``.

    Args:
        times: the times of the given rotations.
        timedelta: their distances.
        rotations: the given rotations but the last.
        rotvecs: the rotations from each to the next.

    >>> ends = transform.Rotation.from_euler("z", jnp.array([[0.0], [90.0]]), degrees=True)
    >>> between = transform.Slerp.init(jnp.array([0.0, 1.0]), ends)
    >>> jnp.round(between(0.5).magnitude(), 4)
    Array(0.7854, dtype=float32)
    """

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """From growing times and as many rotations, two or more."""
        if not isinstance(rotations, Rotation):
            raise TypeError(f"Slerp: rotations must be a Rotation, but it is {rotations!r:.60}.")
        if rotations.single or len(rotations) < 2:
            raise ValueError("Slerp: rotations must be a sequence of two or more.")
        times = jnp.asarray(times).astype(rotations.quat.dtype)
        if times.shape != (len(rotations),):
            raise ValueError(
                f"Slerp: times must have shape {(len(rotations),)}, as there are so many "
                f"rotations, but they have {times.shape}."
            )
        before, after = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
        return cls(times, jnp.diff(times), before, (before.inv() * after).as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """The rotations at times, a scalar or a vector."""
        times = jnp.asarray(times).astype(self.times.dtype)
        if times.ndim > 1:
            raise ValueError(
                f"Slerp: times must be a scalar or a vector, but they have shape {times.shape}."
            )
        last = self.timedelta.shape[0] - 1
        i = jnp.clip(jnp.searchsorted(self.times, times) - 1, 0, last)
        part = (times - self.times[i]) / self.timedelta[i]
        turn = Rotation.from_rotvec(self.rotvecs[i] * jnp.expand_dims(part, -1))
        return Rotation(self.rotations.quat[i]) * turn
