"""The functions that users call, which import the rest of the package at their first use.

``docs/jaxpr_text.md`` has the grammar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bindax_core.extend import api_boundary

if TYPE_CHECKING:
    from bindax_core.extend import ClosedJaxpr, PyTreeDef

__all__ = ["jaxpr_from_text", "jaxpr_to_text", "treedef_from_text", "treedef_to_text"]


@api_boundary
def jaxpr_to_text(closed: ClosedJaxpr, *, source_info: bool = False) -> str:
    """Write a jaxpr as text, with the values of its constants.

    The text names each primitive by the distribution that declares it, and notes the distribution's
    version. A checksum tells whether it was changed since.

    Args:
        closed: the jaxpr.
        source_info: whether to write where each equation comes from: the line of the user's
            program, and the stack of names. Texts then have paths of this machine.

    Returns:
        Text that ``jaxpr_from_text`` reads. Without ``source_info`` equal jaxprs have equal texts.

    Raises:
        JaxprTextError: when something in the jaxpr has no text form, such as a Python function.

    >>> from bindax_transforms import make_jaxpr
    >>> print(jaxpr_to_text(make_jaxpr(lambda x, y: (y, x, 2.5))(1.0, 3)))
    bindax jaxpr 1
    checksum ...
    <BLANKLINE>
    program @0 (a:float64[]~, b:int64[]~)
      return (b, a, 2.5:float64[]~)
    <BLANKLINE>
    """
    from bindax_text._write import Writer

    return Writer(source_info=source_info).text(closed)


@api_boundary
def jaxpr_from_text(text: str, *, any_version: bool = False) -> ClosedJaxpr:
    """Read a jaxpr that ``jaxpr_to_text`` wrote.

    The plugins of the distributions that the text names are loaded; nothing else is imported. The
    jaxpr is type-checked. Its constants and literals are read as ``Array``.

    Args:
        text: the text.
        any_version: accept primitives of distributions whose installed version is not compatible
            with the one that the text was written with. A version is compatible when it is the same
            or a later one with the same leftmost number that is not zero.

    Returns:
        The jaxpr.

    Raises:
        JaxprTextError: when the text is damaged, was changed though it has a checksum line, or a
            distribution, version, primitive, parameter or type that it needs is not installed. The
            message has the line.

    >>> from bindax_transforms import make_jaxpr
    >>> text = jaxpr_to_text(make_jaxpr(lambda x: (x, x))(1.0))
    >>> jaxpr_from_text(text).out_avals[0]
    ShapeDtypeStruct(shape=(), dtype=float64, weak_type=True)
    >>> jaxpr_from_text(text.replace("float64[]", "float32[]"))
    Traceback (most recent call last):
    bindax_core.errors.JaxprTextError: line 2: the text was changed after it was written: ...
    """
    from bindax_text._read import read_text

    return read_text(text, any_version)


def treedef_to_text(structure: PyTreeDef) -> str:
    """Write the structure of a pytree as text; ``PyTreeDef.serialize`` calls this.

    Raises:
        TreeError: metadata or a type that has no stable written form; the message names the path
            and the type.
    """
    from bindax_text._treedefs import write_treedef

    return write_treedef(structure)


def treedef_from_text(text: str) -> PyTreeDef:
    """Read what ``treedef_to_text`` wrote; ``PyTreeDef.deserialize`` calls this.

    Raises:
        TreeError: the text is damaged, of an unknown version, or names a type that is not
            registered here.
    """
    from bindax_text._treedefs import read_treedef

    return read_treedef(text)
