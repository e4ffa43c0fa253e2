"""Pickles and copies of functions: public ones by name, transformed ones without what is cached."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax, nnx


def _namespaces(module: types.ModuleType, seen: set[str]) -> Iterator[types.ModuleType]:
    """A public module, and those that it offers; not the inner ones of packages."""
    package, *inner = module.__name__.split(".")
    is_inner = package != "bindax" and (
        len(inner) > 1 or any(name[0] == "_" or name == "plugin" for name in inner)
    )
    if module.__name__ in seen or is_inner:
        return
    seen.add(module.__name__)
    yield module
    for name in dir(module):
        value = None if name.startswith("_") else getattr(module, name)
        if isinstance(value, types.ModuleType) and value.__name__.startswith("bindax"):
            yield from _namespaces(value, seen)


NAMESPACES = {module.__name__: module for module in _namespaces(bindax, set())}


def test_the_front_ends_are_among_the_namespaces() -> None:
    modules = [bindax, bindax.lax, jnp, bindax.random, bindax.nn, bindax.scipy, bindax.nnx]
    assert {module.__name__ for module in modules} <= NAMESPACES.keys()
    assert len(NAMESPACES) > 50


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_public_functions_and_classes_are_pickled_by_name(namespace: str) -> None:
    module = NAMESPACES[namespace]
    refused = []
    for name in dir(module):
        value = None if name.startswith("_") else getattr(module, name)
        if inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, jnp.ufunc):
            if isinstance(value, (types.GenericAlias, functools.partial)):
                continue
            try:
                found = pickle.loads(pickle.dumps(value))
            except Exception as error:
                found = error
            if found is not value:
                refused.append((name, found))
    assert not refused


def through_cloudpickle(value: Any) -> Any:
    return pickle.loads(cloudpickle.dumps(value))


def transformed() -> dict[str, Callable[..., Any]]:
    def f(x: Any) -> Any:
        return jnp.sin(x) * x

    def scanned(x: Any) -> Any:
        return lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0]

    by_jvp = bindax.custom_jvp(f)
    by_jvp.defjvp(lambda primals, tangents: (f(primals[0]), tangents[0] * 3))
    by_vjp = bindax.custom_vjp(f)
    by_vjp.defvjp(lambda x: (f(x), x), lambda x, cotangent: (cotangent * x,))
    mesh, spec = bindax.make_mesh((1,), ("x",)), bindax.P()
    inner = bindax.jit(f)
    return {
        "jit": bindax.jit(f),
        "jit with a static argument": bindax.jit(lambda x, n=2: x * n, static_argnames="n"),
        "jit of jit": bindax.jit(lambda x: inner(x)),
        "jit of scan": bindax.jit(scanned),
        "jit of cond": bindax.jit(lambda x: lax.cond(x > 0, f, jnp.cos, x)),
        "grad": bindax.grad(f),
        "jit of grad": bindax.jit(bindax.grad(f)),
        "value_and_grad": bindax.value_and_grad(f),
        "jacfwd": bindax.jacfwd(f),
        "jacrev": bindax.jacrev(f),
        "hessian": bindax.hessian(f),
        "vmap": lambda x: bindax.vmap(f)(jnp.stack([x, x])),
        "checkpoint": bindax.checkpoint(f),
        "custom_jvp": by_jvp,
        "grad of custom_jvp": bindax.grad(by_jvp),
        "jit of custom_vjp": bindax.jit(by_vjp),
        "grad of custom_vjp": bindax.grad(by_vjp),
        "named_call": bindax.named_call(f, name="named"),
        "linearize": bindax.linearize(f, 1.0)[1],
        "vjp": bindax.vjp(f, 1.0)[1],
        "vectorize": jnp.vectorize(f),
        "shard_map": bindax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec),
        "nnx.jit": nnx.jit(f),
        "nnx.grad": nnx.grad(f),
        "nnx.remat": nnx.remat(f),
    }


@pytest.mark.parametrize("copied", [through_cloudpickle, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", transformed())
def test_transformed_functions_are_copied_before_and_after_calls(name: str, copied: Any) -> None:
    function = transformed()[name]
    x = jnp.asarray(0.5)
    before = copied(function)
    expected = bindax.tree.leaves(function(x))
    after = copied(function)
    for other in (before, after, copied(after)):
        found = bindax.tree.leaves(other(x))
        np.testing.assert_array_equal(np.stack(found), np.stack(expected))


@bindax.jit
def importable(x: Any) -> Any:
    return x + 1


class Module:
    @bindax.jit
    def call(self: Any, x: Any) -> Any:
        return x + 1


def test_a_jitted_function_of_a_module_is_pickled_by_its_name() -> None:
    assert importable(1) == 2
    assert pickle.loads(pickle.dumps(importable)) is importable
    assert copy.deepcopy({"f": importable})["f"] is importable
    assert pickle.loads(pickle.dumps(Module.call)) is Module.call


def test_a_pickle_holds_nothing_compiled_and_keeps_attributes() -> None:
    f = bindax.jit(lambda x: x * 2)
    f.note = "mine"  # type: ignore[attr-defined]
    size = len(cloudpickle.dumps(f))
    for n in range(1, 5):
        f(np.ones(n))
    assert len(cloudpickle.dumps(f)) == size
    again = through_cloudpickle(f)
    assert again.note == "mine"
    assert again.cache_info().size == 0
    assert f.cache_info().size == 4
