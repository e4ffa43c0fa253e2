"""``jax.ffi``: the type of values that order effects."""

from __future__ import annotations

from bindax_jax_names.shims.extend_core import AbstractToken

__all__ = ["abstract_token"]

abstract_token: AbstractToken = AbstractToken()
