"""``jax.extend.ifrt_programs``: programs for other runtimes, of which none can be made here."""

from __future__ import annotations

__all__ = ["ifrt_programs"]

ifrt_programs = None
