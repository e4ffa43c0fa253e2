"""Functions of small arrays applied to large ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import typeof, wraps
from bindax_lax_basic.extend import object_to_ranks
from bindax_numpy._operands import array_operand
from bindax_numpy.reshaping import squeeze
from bindax_transforms import vmap

CoreDims = tuple[str, ...]
_ARGUMENT = r"\((?:\w+(?:,\w+)*)?\)"
_ARGUMENTS = rf"{_ARGUMENT}(?:,{_ARGUMENT})*"


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function that applies another one along all further axes of its arguments.

    Args:
        pyfunc: a function of arrays of few axes.
        excluded: positions and names of arguments that are passed on as they are.
        signature: the axes that ``pyfunc`` itself takes and returns, as in "(n,m),(m)->(n)"; by
            default it takes and returns scalars.

    Returns:
        A function of positional arguments; their further axes broadcast together. None is passed
        on as it is, where the signature has no axes for it.

    Raises:
        TypeError: for other numbers of arguments or results than the signature has.
        ValueError: when their axes and the signature do not agree.

    >>> dots = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
    >>> dots(jnp.ones((2, 3)), jnp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    fixed = _checked_exclusions(excluded)
    parsed = None if signature is None else _parse_signature(signature)

    @wraps(pyfunc)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        places = [i for i in range(len(args)) if i not in fixed]
        cores, results = parsed or ([()] * len(places), None)
        _check_count(pyfunc, signature, "takes", len(places), len(cores))
        named = [i for i, core in zip(places, cores, strict=True) if args[i] is None and core]
        if named:
            raise ValueError(
                f"vectorize: argument {named[0]} of {_name(pyfunc)} is None, but the signature "
                f"{signature!r} names axes of it."
            )
        missing = [i for i, core in zip(places, cores, strict=True) if args[i] is None and not core]
        cores = [core for i, core in zip(places, cores, strict=True) if i not in missing]
        places = [i for i in places if i not in missing]
        arrays = [array_operand(f"vectorize of {_name(pyfunc)}", args[i]) for i in places]
        sizes = _check_arguments(pyfunc, signature, arrays, cores)

        def call(*operands: Any) -> Any:
            values = list(args)
            for place, operand in zip(places, operands, strict=True):
                values[place] = operand
            out = pyfunc(*values, **kwargs)
            if results is not None:
                _check_results(pyfunc, signature, out, results, sizes)
            return out

        return _mapped(call, arrays, [len(core) for core in cores])

    return vectorized


def _checked_exclusions(excluded: Collection[int | str]) -> set[int | str]:
    for one in excluded:
        if not isinstance(one, (int, str)):
            raise TypeError(f"vectorize: excluded has positions and names, but {one!r} is neither.")
        if isinstance(one, int) and one < 0:
            raise ValueError(f"vectorize: positions are counted from 0, but excluded has {one}.")
    return set(excluded)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def _parse_signature(signature: str) -> tuple[list[CoreDims], list[CoreDims]]:
    if not isinstance(signature, str):
        raise TypeError(
            f"vectorize: a signature is a text such as '(n,m),(m)->(n)', but it is {signature!r}."
        )
    text = signature.replace(" ", "")
    if not re.fullmatch(rf"{_ARGUMENTS}->{_ARGUMENTS}", text):
        raise ValueError(
            f"vectorize: a signature names the axes of each argument and result, as in "
            f"'(n,m),(m)->(n)', but it is {signature!r}."
        )
    sides = []
    for side in text.split("->"):
        found = re.findall(_ARGUMENT, side)
        sides.append([tuple(name for name in part[1:-1].split(",") if name) for part in found])
    return sides[0], sides[1]


def _check_count(
    pyfunc: Callable[..., Any], signature: str | None, does: str, found: int, wanted: int
) -> None:
    if found != wanted:
        raise TypeError(
            f"vectorize: {_name(pyfunc)} with the signature {signature!r} {does} {wanted} arrays, "
            f"but here it is {found}."
        )


def _check_arguments(
    pyfunc: Callable[..., Any],
    signature: str | None,
    arrays: Sequence[Any],
    cores: Sequence[CoreDims],
) -> dict[str, int]:
    """The sizes of the named axes; an error where they disagree."""
    sizes: dict[str, int] = {}
    for position, (x, core) in enumerate(zip(arrays, cores, strict=True)):
        aval = typeof(x)
        own = aval.shape[aval.ndim - len(core) :] if aval.ndim >= len(core) else None
        if own is None or any(
            sizes.setdefault(name, size) != size for name, size in zip(core, own, strict=True)
        ):
            raise ValueError(
                f"vectorize: argument {position} of {_name(pyfunc)} is {aval.str_short()}, which "
                f"does not fit to the axes {core} of the signature {signature!r} with the sizes "
                f"{sizes}."
            )
    return sizes


def _check_results(
    pyfunc: Callable[..., Any],
    signature: str | None,
    out: Any,
    results: Sequence[CoreDims],
    sizes: dict[str, int],
) -> None:
    values = out if isinstance(out, tuple) else (out,)
    _check_count(pyfunc, signature, "returns a tuple of", len(values), len(results))
    ranks = [typeof(x).ndim for x in values]
    if ranks != [len(core) for core in results]:
        raise ValueError(
            f"vectorize: {_name(pyfunc)} returned arrays with {ranks} axes, but its signature is "
            f"{signature!r}."
        )
    wide = dict(sizes)
    for x, core in zip(values, results, strict=True):
        shape = typeof(x).shape
        for name, size in zip(core, shape, strict=True):
            if wide.setdefault(name, size) != size:
                raise ValueError(
                    f"vectorize: {_name(pyfunc)} returned an array of shape {shape}, whose axis "
                    f"{name!r} has the size {size}, but it is {wide[name]} elsewhere; its "
                    f"signature is {signature!r}."
                )


def _mapped(call: Callable[..., Any], arrays: Sequence[Any], cores: Sequence[int]) -> Any:
    """Apply a function over the leading axes of its operands, which broadcast."""
    leading = [typeof(x).shape[: typeof(x).ndim - n] for x, n in zip(arrays, cores, strict=True)]
    object_to_ranks(leading)
    shape = lax.broadcast_shapes(*leading)
    operands = []
    in_axes: list[list[int | None]] = [[] for _ in shape]
    for x, own in zip(arrays, leading, strict=True):
        # Axes of size one that others fill are removed, and the operand is not mapped over them.
        missing = len(shape) - len(own)
        single = [i for i, size in enumerate(own) if size == 1 and shape[missing + i] != 1]
        operands.append(squeeze(x, tuple(single)) if single else x)
        for axis in range(len(shape)):
            mapped = axis >= missing and axis - missing not in single
            in_axes[axis].append(0 if mapped else None)
    for axes in reversed(in_axes):
        if any(axis is not None for axis in axes):
            call = vmap(call, in_axes=tuple(axes))
    return call(*operands)
