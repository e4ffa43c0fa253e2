"""The functions of this package in the mode that was once the only one: graphs with updates."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from functools import partial as _partial
from typing import Any

from bindax_nnx.abstract_models import get_abstract_model as _get_abstract_model
from bindax_nnx.flat_state import flatten as _flatten
from bindax_nnx.lift.checkify import checkify as _checkify
from bindax_nnx.lift.control_flow import cond as _cond
from bindax_nnx.lift.control_flow import fori_loop as _fori_loop
from bindax_nnx.lift.control_flow import switch as _switch
from bindax_nnx.lift.control_flow import while_loop as _while_loop
from bindax_nnx.lift.custom_vjp import custom_vjp as _custom_vjp
from bindax_nnx.lift.gradient import grad as _grad
from bindax_nnx.lift.gradient import value_and_grad as _value_and_grad
from bindax_nnx.lift.jit import jit as _jit
from bindax_nnx.lift.jvp_vjp import jvp as _jvp
from bindax_nnx.lift.jvp_vjp import vjp as _vjp
from bindax_nnx.lift.pmap import pmap as _pmap
from bindax_nnx.lift.remat_eval_shape import eval_shape as _eval_shape
from bindax_nnx.lift.remat_eval_shape import remat as _remat
from bindax_nnx.lift.scan import scan as _scan
from bindax_nnx.lift.sharding import shard_map as _shard_map
from bindax_nnx.lift.vmap import vmap as _vmap
from bindax_nnx.module import iter_children as _iter_children
from bindax_nnx.module import iter_modules as _iter_modules
from bindax_nnx.module import view as _view
from bindax_nnx.partial_calls import cached_partial as _cached_partial
from bindax_nnx.recursion import iter_graph as _iter_graph
from bindax_nnx.recursion import recursive_map as _recursive_map
from bindax_nnx.rng_changes import backup_keys as _backup_keys
from bindax_nnx.rng_changes import fork_rngs as _fork_rngs
from bindax_nnx.rng_changes import reseed as _reseed
from bindax_nnx.rng_changes import split_rngs as _split_rngs
from bindax_nnx.split_merge import clone as _clone
from bindax_nnx.split_merge import graphdef as _graphdef
from bindax_nnx.split_merge import split as _split
from bindax_nnx.split_merge import state as _state
from bindax_nnx.split_merge import variables as _variables
from bindax_nnx.views import view_info as _view_info

_graph: dict[str, Any] = {"graph": True}
_updates: dict[str, Any] = {"graph": True, "graph_updates": True}

split: _Callable[..., Any] = _partial(_split, **_graph)
state: _Callable[..., Any] = _partial(_state, **_graph)
variables: _Callable[..., Any] = _partial(_variables, **_graph)
get_abstract_model: _Callable[..., Any] = _partial(_get_abstract_model, **_graph)
clone: _Callable[..., Any] = _partial(_clone, **_graph)
graphdef: _Callable[..., Any] = _partial(_graphdef, **_graph)
flatten: _Callable[..., Any] = _partial(_flatten, **_graph)
iter_graph: _Callable[..., Any] = _partial(_iter_graph, **_graph)
recursive_map: _Callable[..., Any] = _partial(_recursive_map, **_graph)
view: _Callable[..., Any] = _partial(_view, **_graph)
view_info: _Callable[..., Any] = _partial(_view_info, **_graph)
iter_modules: _Callable[..., Any] = _partial(_iter_modules, **_graph)
iter_children: _Callable[..., Any] = _partial(_iter_children, **_graph)
reseed: _Callable[..., Any] = _partial(_reseed, **_graph)
backup_keys: _Callable[..., Any] = _partial(_backup_keys, **_graph)
split_rngs: _Callable[..., Any] = _partial(_split_rngs, **_updates)
fork_rngs: _Callable[..., Any] = _partial(_fork_rngs, **_updates)
jit: _Callable[..., Any] = _partial(_jit, **_updates)
shard_map: _Callable[..., Any] = _partial(_shard_map, **_updates)
grad: _Callable[..., Any] = _partial(_grad, **_updates)
value_and_grad: _Callable[..., Any] = _partial(_value_and_grad, **_updates)
custom_vjp: _Callable[..., Any] = _partial(_custom_vjp, **_updates)
vjp: _Callable[..., Any] = _partial(_vjp, **_updates)
jvp: _Callable[..., Any] = _partial(_jvp, **_updates)
remat: _Callable[..., Any] = _partial(_remat, **_updates)
vmap: _Callable[..., Any] = _partial(_vmap, **_updates)
scan: _Callable[..., Any] = _partial(_scan, **_updates)
pmap: _Callable[..., Any] = _partial(_pmap, **_updates)
while_loop: _Callable[..., Any] = _partial(_while_loop, **_updates)
fori_loop: _Callable[..., Any] = _partial(_fori_loop, **_updates)
eval_shape: _Callable[..., Any] = _partial(_eval_shape, **_updates)
cond: _Callable[..., Any] = _partial(_cond, **_updates)
switch: _Callable[..., Any] = _partial(_switch, **_updates)
checkify: _Callable[..., Any] = _partial(_checkify, **_updates)
cached_partial: _Callable[..., Any] = _partial(_cached_partial, **_updates)
