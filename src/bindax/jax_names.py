"""Programs and packages written for JAX, run on bindax; from the package ``bindax-jax-names``."""

try:
    from bindax_jax_names import *  # noqa: F403 -- the package says in __all__ what is public
    from bindax_jax_names import __all__ as __all__
except ModuleNotFoundError as error:
    if error.name != "bindax_jax_names":
        raise
    raise ModuleNotFoundError(
        "bindax.jax_names needs the package bindax-jax-names: pip install bindax-jax-names.",
        name=error.name,
    ) from None
