"""Linear programs, which ``linearize`` and ``vjp`` return: maps of tangents and of cotangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from bindax_core.errors import ShapeError
from bindax_core.extend import (
    ClosedJaxpr,
    Jaxpr,
    NodeDefinition,
    Partial,
    PyTreeDef,
    api_boundary,
    current_source,
    eval_jaxpr,
    flatten_prefix,
    float0,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_core.tree_util import register_node
from bindax_transforms._flat import (
    argument_names,
    own_value,
    partition,
    with_zeros,
)
from bindax_transforms.autodiff.asked_cotangents import DidntWant, DontWant, GradRef
from bindax_transforms.autodiff.jvp import check_tangent
from bindax_transforms.autodiff.partial_eval import dce_jaxpr
from bindax_transforms.autodiff.transposition import (
    eval_jaxpr_transposed,
    transpose_with_references,
)
from bindax_transforms.staging.backward_logs import are_logs_wanted, logs_go_to
from bindax_transforms.staging.names import TRANSPOSE, enter_name
from bindax_transforms.staging.reference import Reference
from bindax_transforms.zeros import UndefPrimal, Zero, add_tangents, instantiate_zeros


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinearProgram:
    """A linear jaxpr from tangents of arguments to tangents of results.

    ``jaxpr`` goes from the nonzero tangents in to the nonzero tangents out; its constants are the
    residuals. ``in_tree`` is the structure of ``(arguments, {})``.

    With the residuals it is a tree, whose leaves these are, so that it may leave ``jit``, be
    carried by ``scan`` and be a residual itself. The jaxpr is metadata, equal to itself only.
    """

    name: str
    jaxpr: Jaxpr
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    nonzeros_in: Sequence[bool]
    nonzeros_out: Sequence[bool]
    of_arguments: Sequence[int | None] = ()  # for each residual of which argument it is the value

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Pushforward(LinearProgram):
    """The result of ``linearize``: a map of tangents."""

    @api_boundary
    def __call__(self, residuals: Sequence[Any], *tangents: Any) -> Any:
        """Return the tangents of the results, one tangent given for each argument."""
        flat, tree = tree_flatten((tangents, {}))
        if tree != self.in_tree:
            raise TypeError(
                f"the tangents must have the structure of the arguments, "
                f"{self.in_tree.children()[0]}, but they have {tree.children()[0]}."
            )
        checked = _checked(
            self.in_avals,
            flat,
            lambda: argument_names(tree_unflatten(self.in_tree, self.in_avals)[0], "primals"),
            "tangent",
        )
        used = [instantiate_zeros(t) for t in partition(self.nonzeros_in, checked)[1]]
        outs = eval_jaxpr(self.jaxpr, residuals, *used)
        found = filled(self.nonzeros_out, outs, self.out_avals)
        return tree_unflatten(self.out_tree, found)


class Pullback(LinearProgram):
    """The result of ``vjp``: a map of cotangents."""

    @api_boundary
    def __call__(
        self,
        residuals: Sequence[Any],
        *cotangents: Any,
        logs: dict[Any, Any] | None = None,
        wanted: Sequence[bool] | None = None,
    ) -> tuple[Any, ...]:
        """Return the cotangents of the arguments, for one of the structure of the results.

        What backward rules log is added to ``logs``, or dropped. With ``wanted``, flags for the
        leaves of the arguments, the others are not computed, and have None.
        """
        if len(cotangents) != 1:
            raise TypeError(
                f"the {self.name} takes one cotangent, which has the structure of the output, "
                f"{self.out_tree}, but it was called with {len(cotangents)} arguments."
            )
        flat, tree = tree_flatten(cotangents[0])
        if tree != self.out_tree:
            raise ShapeError(
                f"the cotangent must have the structure of the output, {self.out_tree}, but it "
                f"has {tree}."
            )
        checked = _checked(
            self.out_avals,
            flat,
            lambda: argument_names(tree_unflatten(self.out_tree, self.out_avals), "output"),
            "cotangent",
            self.kept,
        )
        given = partition(self.nonzeros_out, checked)[1]
        if wanted is None:
            found = pull_back(self.jaxpr, residuals, given, logs)
            full = filled(self.nonzeros_in, found, self.in_avals)
        else:
            among = partition(self.nonzeros_in, wanted)[1]
            found = _pull_back_some(self.jaxpr, residuals, given, among)
            pairs = zip(wanted, with_zeros(self.nonzeros_in, found, self.in_avals), strict=True)
            full = [own_value(instantiate_zeros(x)) if is_asked else None for is_asked, x in pairs]
        args, _ = tree_unflatten(self.in_tree, full)
        return args  # type: ignore[no-any-return]

    @staticmethod
    def kept(aval: Any, cotangent: Any) -> bool:
        """Tell whether a cotangent is taken as it is."""
        return False


class VJP(Partial[tuple[Any, ...]]):
    """The result of ``vjp``: a function of a cotangent, and a tree of what it has computed.

    >>> import numpy as np
    >>> from bindax_transforms import vjp
    >>> y, f_vjp = vjp(lambda x, w: x * w.sum(), np.ones(2), np.arange(3.0))
    >>> f_vjp.args_res, f_vjp.opaque_residuals
    ([Array([1., 1.], dtype=float64), None], [Array(3., dtype=float64)])
    """

    __slots__ = ()

    @property
    def args_res(self) -> list[Any]:
        """For each argument its value, with None for what the derivative does not need.

        Assigning to it changes the values, as ``replace`` does for another derivative.
        """
        found: list[Any] = [None] * len(self._program.in_avals)
        for i, x in zip(self._program.of_arguments, self.args[0], strict=True):
            if i is not None:
                found[i] = x
        args, _ = tree_unflatten(self._program.in_tree, found)
        return list(args)

    @args_res.setter
    def args_res(self, values: Sequence[Any]) -> None:
        partial: Any = self
        partial.__setstate__((self.func, self.replace(args_res=values).args, {}, None))

    @property
    def opaque_residuals(self) -> list[Any]:
        """The other values that the derivative needs."""
        pairs = zip(self._program.of_arguments, self.args[0], strict=True)
        return [x for i, x in pairs if i is None]

    @property
    def _program(self) -> Pullback:
        program: Any = self.func
        return program  # type: ignore[no-any-return]

    def replace(
        self,
        *,
        args_res: Sequence[Any] | None = None,
        opaque_residuals: Sequence[Any] | None = None,
    ) -> VJP:
        """Return the same derivative with other values, such as arguments that were not stored.

        Args:
            args_res: values in place of ``args_res``; None stands for all of an argument.
            opaque_residuals: values in place of ``opaque_residuals``.

        >>> from bindax_transforms import vjp
        >>> import numpy as np
        >>> y, f_vjp = vjp(lambda x: x * x, np.ones(2))
        >>> f_vjp.replace(args_res=[np.full(2, 5.0)])(np.ones(2))
        (Array([10., 10.], dtype=float64),)
        """
        structure = self._program.in_tree.children()[0]
        given = tuple(self.args_res if args_res is None else args_res)
        arguments = flatten_prefix(given, structure, "args_res", full_name="the arguments")
        others = iter(self.opaque_residuals if opaque_residuals is None else opaque_residuals)
        kept = [next(others) if i is None else arguments[i] for i in self._program.of_arguments]
        return VJP(self.func, tuple(kept))

    @api_boundary
    def with_logs(self, cotangent: Any) -> tuple[tuple[Any, ...], dict[Any, Any]]:
        """Return the cotangents of the arguments, and what backward rules log on the way.

        Args:
            cotangent: as for a call.

        Raises:
            ValueError: when a name is logged twice, or inside of a branch of ``cond`` or a
                ``shard_map``.

        >>> from bindax_transforms import custom_vjp, vjp
        >>> identity = custom_vjp(lambda x: x)
        >>> identity.defvjp_with_logs(
        ...     lambda x: (x, None), lambda _, ct: ((ct,), {"cotangent": ct})
        ... )
        >>> y, f_vjp = vjp(lambda x: 3 * identity(x * x), 2.0)
        >>> (slope,), logs = f_vjp.with_logs(1.0)
        >>> float(slope), float(logs["cotangent"])
        (12.0, 3.0)
        """
        logs: dict[Any, Any] = {}
        return self(cotangent, logs=logs), logs

    @api_boundary
    def with_refs(self, *refs: Any) -> Callable[[Any], tuple[Any, ...]]:
        """Return the derivative as a function that adds cotangents to references.

        Args:
            refs: in the structure of the arguments, references that hold values of their types,
                or ``DontWant()`` for what is not computed; anything else stands for an argument
                whose cotangent is returned.

        Returns:
            A function from a cotangent to the tuple of cotangents, with ``GradRef()`` where one was
            added to a reference, and ``DidntWant()`` where none was wanted.

        Raises:
            ValueError: when the structure or a type is another one.

        >>> from bindax_transforms import vjp
        >>> from bindax_transforms.extend import Reference
        >>> total = Reference(1.0)
        >>> y, f_vjp = vjp(lambda x, w: x * w, 2.0, 3.0)
        >>> slope_of_x, of_w = f_vjp.with_refs("value", total)(1.0)
        >>> float(slope_of_x), of_w, float(total.load())
        (3.0, GradRef(), 3.0)
        """
        program = self._program
        given, tree = tree_flatten((refs, {}))
        if tree != program.in_tree:
            raise ValueError(
                f"with_refs of the {program.name} takes one entry for each argument, in the "
                f"structure {program.in_tree.children()[0]}, but got {tree.children()[0]}. Give a "
                f"reference, or any other object where the cotangent is to be returned."
            )
        for x, aval in zip(given, program.in_avals, strict=True):
            wanted = aval.tangent_aval().strip_weak_type()
            if isinstance(x, Reference) and x.aval != wanted:
                raise ValueError(
                    f"with_refs of the {program.name}: a reference of type {x.aval.str_short()} "
                    f"was given for an argument whose cotangent is {wanted.str_short()}. Make it "
                    f"with new_ref of zeros of that type."
                )

        wanted = [not isinstance(x, DontWant) for x in given]

        def accumulate(cotangent: Any) -> tuple[Any, ...]:
            some = None if all(wanted) else wanted
            found = program.in_tree.flatten_up_to((self(cotangent, wanted=some), {}))
            for i, x in enumerate(given):
                if isinstance(x, Reference):
                    x.store(add_tangents(x.load(), found[i]))
                    found[i] = GradRef()
                elif not wanted[i]:
                    found[i] = DidntWant()
            args, _ = tree_unflatten(program.in_tree, found)
            return args  # type: ignore[no-any-return]

        return accumulate


register_node(
    NodeDefinition(
        VJP,
        lambda node: (node.args, node.func),
        lambda program, children: VJP(program, *children),
        attributes=("args",),
    )
)


class Transposed(Pullback):
    """The result of ``linear_transpose``: integers are numbers there, and no constants."""

    @staticmethod
    def kept(aval: Any, cotangent: Any) -> bool:
        """Tell whether a cotangent is of the integer type of a result."""
        is_integer = aval.tangent_aval().dtype == float0
        return is_integer and bool(typeof(cotangent).strip_weak_type() == aval.strip_weak_type())


def pull_back(
    jaxpr: Jaxpr,
    residuals: Sequence[Any],
    cotangents: Sequence[Any],
    logs: dict[Any, Any] | None = None,
) -> Sequence[Any]:
    """The cotangents, or ``Zero``, of a linear jaxpr's arguments, from those of its results."""
    operands = [UndefPrimal(v.aval) for v in jaxpr.invars]
    is_plain = logs is None and not are_logs_wanted()
    outer = enter_name(TRANSPOSE)
    try:
        with nullcontext() if is_plain else logs_go_to(logs):
            return eval_jaxpr_transposed(jaxpr, residuals, operands, cotangents)
    finally:
        current_source.info = outer


def _pull_back_some(
    jaxpr: Jaxpr, residuals: Sequence[Any], cotangents: Sequence[Any], wanted: Sequence[bool]
) -> Sequence[Any]:
    """The same of the arguments that are wanted; ``Zero`` for the others."""
    closed = ClosedJaxpr(jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars]))
    linear = [False] * len(jaxpr.constvars) + [True] * len(jaxpr.invars)
    staged, nonzeros = transpose_with_references(closed, linear, [True] * len(cotangents))
    if staged.references:  # whose values are to be written
        return pull_back(jaxpr, residuals, cotangents)
    used = partition(nonzeros, wanted)[1]
    program, _ = dce_jaxpr(staged.program.jaxpr, used)
    given = [instantiate_zeros(ct) for ct in cotangents]
    found = iter(eval_jaxpr(program, staged.program.consts, *residuals, *given))
    zeros = [Zero(v.aval.cotangent_aval()) for v in jaxpr.invars]
    pairs = zip(nonzeros, wanted, zeros, strict=True)
    return [next(found) if nonzero and is_asked else zero for nonzero, is_asked, zero in pairs]


def filled(flags: Sequence[bool], found: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """Arrays for all, from what a linear jaxpr gives where the flags say that there is one."""
    return [own_value(instantiate_zeros(x)) for x in with_zeros(flags, found, avals)]


def _checked(
    avals: Sequence[Any],
    given: Sequence[Any],
    names: Callable[[], list[str]],
    what: str,
    kept: Callable[[Any, Any], bool] = lambda aval, x: False,
) -> list[Any]:
    pairs = enumerate(zip(avals, given, strict=True))
    return [
        x if kept(aval, x) else check_tangent(aval, x, i, names, what) for i, (aval, x) in pairs
    ]
