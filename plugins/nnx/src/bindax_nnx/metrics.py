"""Metrics: objects that gather numbers over batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import canonicalize_dtype
from bindax_nnx.filters import Filter
from bindax_nnx.layers._common import array_of
from bindax_nnx.object import Object
from bindax_nnx.split_merge import split
from bindax_nnx.variables import Variable


class MetricState(Variable[Any]):
    """Numbers that a metric has gathered."""


class Metric(Object):
    """Base of metrics: ``update`` takes what it needs by keyword and ignores the rest."""

    def reset(self) -> None:
        """Forget what was gathered."""
        raise TypeError(f"{type(self).__name__} must define reset.")

    def update(self, **kwargs: Any) -> None:
        """Take a batch into account."""
        raise TypeError(f"{type(self).__name__} must define update.")

    def compute(self) -> Any:
        """The result so far."""
        raise TypeError(f"{type(self).__name__} must define compute.")

    def split(self, *filters: Filter) -> Any:
        """The structure of the metric and its numbers; see ``split``."""
        return split(self, *filters)

    def _argument(self, name: str, given: dict[str, Any]) -> Any:
        if name not in given:
            raise TypeError(
                f"{type(self).__name__}.update needs the keyword argument {name!r}, but got "
                f"{sorted(given)}."
            )
        return array_of(given[name])


def _zero() -> Any:
    return jnp.zeros((), np.float32)


def _no_cases() -> Any:
    """A count of 64 bits where the settings allow it: 32 bits end at 2 ** 31 cases."""
    return jnp.zeros((), canonicalize_dtype(np.dtype(np.int64)))


def _add(total: MetricState, remainder: MetricState, change: Any) -> None:
    """Add to a sum in two numbers: the second is what rounding took from the first.

    Knuth, "The art of computer programming", volume 2, section 4.2.2.
    """
    change = jnp.asarray(change)
    high = change.astype(np.float32)
    former, low = total.value, (change - high.astype(change.dtype)).astype(np.float32)
    new = former + high
    taken = new - former
    error = (former - (new - taken)) + (high - taken) + low
    total.value = new
    # What is infinite or not a number has lost nothing.
    remainder.value = jnp.where(jnp.isfinite(new), remainder.value + error, 0)


def _sum(values: Any, mask: Any) -> Any:
    """The sum of numbers, in 32 bits at least."""
    wide = None
    if jnp.issubdtype(values.dtype, np.floating):
        wide = jnp.promote_types(values.dtype, np.float32)
    return jnp.sum(values, dtype=wide, where=mask)


class Average(Metric):
    """The mean of numbers.

    Args:
        argname: the name of the argument of ``update``.

    Counts are integers, and totals keep what rounding takes from them: updates are not lost when
    there have been many.

    >>> import numpy as np
    >>> average = Average("loss")
    >>> average.update(loss=np.array([1.0, 2.0]))
    >>> average.update(loss=6.0)
    >>> float(average.compute())
    3.0
    """

    total: MetricState
    count: MetricState

    def __init__(self, argname: str = "values") -> None:
        self.argname = argname
        self.total, self.count = MetricState(_zero()), MetricState(_no_cases())
        self.remainder: MetricState = MetricState(_zero())

    def reset(self) -> None:
        """Forget what was gathered."""
        self.total.value, self.count.value = _zero(), _no_cases()
        self.remainder.value = _zero()

    def update(self, **kwargs: Any) -> None:
        """Take numbers into account; with ``mask``, those where it is true, or not zero.

        Raises:
            ValueError: there is a mask for a number of Python.
        """
        given, mask = self._argument(self.argname, kwargs), kwargs.get("mask")
        if mask is not None and isinstance(given, bool | int | float | complex):
            raise ValueError(
                f"{type(self).__name__}.update: {self.argname} should be a jax array where there "
                f"is a mask, that is an array of the shape of the mask, but it is {given!r}."
            )
        values = jnp.asarray(given)
        mask = None if mask is None else jnp.asarray(mask) != 0
        _add(self.total, self.remainder, _sum(values, mask))
        if mask is None:
            self.count.value += values.size
        else:
            cases = jnp.sum(jnp.broadcast_to(mask, values.shape))
            self.count.value += cases.astype(self.count.value.dtype)

    def compute(self) -> Any:
        """The mean; not a number before the first one."""
        return (self.total.value + self.remainder.value) / self.count.value


class Accuracy(Average):
    """The share of cases in which the largest of several numbers is at the position of the label.

    Args:
        threshold: for one number instead of several, from which on it stands for label 1.

    >>> import numpy as np
    >>> accuracy = Accuracy()
    >>> accuracy.update(logits=np.array([[0.1, 0.9], [0.8, 0.2]]), labels=np.array([1, 1]))
    >>> float(accuracy.compute())
    0.5
    """

    def __init__(self, threshold: float | None = None) -> None:
        super().__init__()
        self.threshold = threshold

    def update(self, **kwargs: Any) -> None:
        """Take ``logits`` and ``labels`` into account; with ``mask``, those where it is true."""
        logits = jnp.asarray(self._argument("logits", kwargs))
        labels = jnp.asarray(self._argument("labels", kwargs))
        is_binary, shapes = self.threshold is not None, f"{logits.shape} and {labels.shape}"
        if is_binary and logits.shape != labels.shape:
            raise ValueError(
                f"Accuracy: For binary classification, with a threshold, logits have the shape of "
                f"labels, but the shapes are {shapes}."
            )
        if not is_binary and logits.ndim != labels.ndim + 1:
            raise ValueError(
                f"Accuracy: For multi-class classification, logits have one axis more than "
                f"labels, but the shapes are {shapes}."
            )
        if is_binary:
            hits = (logits >= self.threshold) == (labels > 0)
        else:
            hits = jnp.argmax(logits, axis=-1) == labels
        super().update(values=hits, mask=kwargs.get("mask"))


class Statistics(NamedTuple):
    """The result of ``Welford``.

    >>> import numpy as np
    >>> metric = Welford()
    >>> metric.update(values=np.array([1.0, 3.0]))
    >>> isinstance(metric.compute(), Statistics), float(metric.compute().mean)
    (True, 2.0)
    """

    mean: Any
    standard_error_of_mean: Any
    standard_deviation: Any


class Welford(Metric):
    """The mean and deviation of numbers, in one pass without cancellation (Welford, 1962).

    Args:
        argname: the name of the argument of ``update``.

    >>> import numpy as np
    >>> metric = Welford()
    >>> metric.update(values=np.array([1.0, 3.0]))
    >>> metric.update(values=np.array([5.0, 7.0]))
    >>> float(metric.compute().mean)
    4.0
    """

    count: MetricState
    mean: MetricState
    mean_remainder: MetricState
    m2_remainder: MetricState

    def __init__(self, argname: str = "values") -> None:
        self.argname = argname
        self.count, self.mean = MetricState(_no_cases()), MetricState(_zero())
        self.m2: MetricState = MetricState(_zero())
        self.mean_remainder, self.m2_remainder = MetricState(_zero()), MetricState(_zero())

    def reset(self) -> None:
        """Forget what was gathered."""
        self.count.value = _no_cases()
        for variable in (self.mean, self.m2, self.mean_remainder, self.m2_remainder):
            variable.value = _zero()

    def update(self, **kwargs: Any) -> None:
        """Take numbers into account."""
        values = jnp.asarray(self._argument(self.argname, kwargs)).astype(np.float32)
        former = self.count.value.astype(np.float32)
        self.count.value += values.size
        share = values.size / self.count.value.astype(np.float32)
        mean = jnp.mean(values)
        delta = mean - self.mean.value - self.mean_remainder.value
        squares = jnp.sum(jnp.square(values - mean))
        _add(self.mean, self.mean_remainder, delta * share)
        _add(self.m2, self.m2_remainder, squares + jnp.square(delta) * (former * share))

    def compute(self) -> Statistics:
        """The mean, its standard error and the deviation."""
        count = self.count.value.astype(np.float32)
        deviation = jnp.sqrt((self.m2.value + self.m2_remainder.value) / count)
        mean = self.mean.value + self.mean_remainder.value
        return Statistics(mean, deviation / jnp.sqrt(count), deviation)


class MultiMetric(Metric):
    """Several metrics by name.

    Args:
        metrics: the metrics.

    >>> metrics = MultiMetric(loss=Average("loss"))
    >>> metrics.update(loss=2.0)
    >>> {name: float(value) for name, value in metrics.compute().items()}
    {'loss': 2.0}
    """

    _names: tuple[str, ...] = ()

    def __init__(self, **metrics: Metric) -> None:
        self._names = tuple(metrics)
        for name, metric in metrics.items():
            if hasattr(type(self), name):
                raise ValueError(f"MultiMetric cannot have a metric of the name {name!r}.")
            setattr(self, name, metric)

    def _metrics(self) -> dict[str, Metric]:
        found = {name: x for name, x in self.__dict__.items() if isinstance(x, Metric)}
        return {name: found[name] for name in (*self._names, *found) if name in found}

    def reset(self) -> None:
        """Forget what all have gathered."""
        for metric in self._metrics().values():
            metric.reset()

    def update(self, **kwargs: Any) -> None:
        """Take a batch into account in all; ``mask`` may be a dictionary with one for each."""
        mask = kwargs.get("mask")
        masks = mask if isinstance(mask, Mapping) else None
        shared = kwargs if masks is None else {k: x for k, x in kwargs.items() if k != "mask"}
        for name, metric in self._metrics().items():
            own = None if masks is None else masks.get(name)
            metric.update(**shared, **({} if own is None else {"mask": own}))

    def compute(self) -> dict[str, Any]:
        """The results by name."""
        return {name: metric.compute() for name, metric in self._metrics().items()}
