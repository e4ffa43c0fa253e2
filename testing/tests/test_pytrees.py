"""The checks of container types catch planted bad definitions, and let good ones pass."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bindax_core.tree_util import (
    DictKey,
    GetAttrKey,
    Partial,
    register_dataclass,
    register_pytree_node,
    register_pytree_with_keys,
    register_static,
    scoped_registration,
)
from bindax_testing import PyTreeConformanceError, PyTreeReport, check_pytree


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with scoped_registration():
        yield


class Box:
    """A container whose definition each test plants."""

    def __init__(self, a: Any, b: Any = None, meta: Any = "m") -> None:
        self.a, self.b, self.meta = a, b, meta

    def __repr__(self) -> str:
        return f"Box({self.a}, {self.b})"


def bare(a: Any, b: Any, meta: Any) -> Box:
    made = object.__new__(Box)
    made.a, made.b, made.meta = a, b, meta
    return made


def plant(flatten: Any, unflatten: Any, with_keys: Any = None) -> None:
    register_pytree_node(Box, flatten, unflatten, with_keys)


def good_flatten(box: Box) -> Any:
    return (box.a, box.b), box.meta


def good_unflatten(meta: Any, children: Any) -> Box:
    return bare(*children, meta)


def failed(report: PyTreeReport) -> dict[str, str]:
    return {result.check: result.reason for result in report.failures}


# -------------------------------------------------------------- the five planted definitions


class Validating:
    def __init__(self, a: Any) -> None:
        self.a = np.asarray(a, dtype=np.float64)


def test_validating_init() -> None:
    register_pytree_node(Validating, lambda v: ((v.a,), None), lambda _, xs: Validating(*xs))
    report = check_pytree({"k": [Validating([1.0])]})
    reasons = failed(report)
    for name in ("object()", "a string", "tracers", "nodes of its own type"):
        assert f"unflatten with {name}" in reasons
    text = reasons["unflatten with object()"]
    assert "unflatten raised TypeError" in text
    assert "object.__new__" in text
    assert "came back as" in reasons["unflatten with None"]
    (result,) = [r for r in report.failures if r.check == "unflatten with object()"]
    assert result.type == f"{__name__}.Validating"
    assert result.path == "['k'][0]"


def test_array_in_metadata() -> None:
    plant(good_flatten, good_unflatten)
    report = check_pytree(Box(1.0, 2.0, meta=("name", {"k": np.arange(3)})))
    reasons = failed(report)
    assert list(reasons) == ["metadata == and hash"]
    assert "metadata[1]['k'] is an array (numpy.ndarray)" in reasons["metadata == and hash"]
    assert "flatten it as a child" in reasons["metadata == and hash"]
    (skipped,) = [r for r in report.results if r.check == "keys"]
    assert skipped.status == "skipped"
    assert skipped.reason == "it needs the check 'metadata == and hash' to pass"


def test_keys_that_disagree_with_the_children() -> None:
    def swapped(box: Box) -> Any:
        return ((GetAttrKey("b"), box.a), (GetAttrKey("a"), box.b)), box.meta

    plant(good_flatten, good_unflatten, swapped)
    reasons = failed(check_pytree(Box(1.0, 2.0)))
    assert list(reasons) == ["keys"]
    assert "The key .b leads to 2.0, which is the child that has the key .a" in reasons["keys"]


def test_a_shared_mutable_list() -> None:
    shared: list[Any] = []

    def unflatten(meta: Any, children: Any) -> Box:
        shared[:] = children
        return bare(shared, None, meta)

    plant(lambda box: (tuple(box.a), box.meta), unflatten)
    reasons = failed(check_pytree(Box([1.0, 2.0])))
    assert list(reasons) == ["independent instances"]
    assert "changed the children of the first one" in reasons["independent instances"]


class ById:
    """Metadata with the ``==`` and ``hash`` of ``object``."""

    def __init__(self, name: str) -> None:
        self.name = name


def test_identity_based_hash() -> None:
    plant(good_flatten, good_unflatten)
    reasons = failed(check_pytree(Box(1.0, 2.0, meta=("x", ById("n")))))
    assert list(reasons) == ["metadata by content", "pickled structure", "pickle", "deepcopy"]
    text = reasons["metadata by content"]
    assert text.startswith("metadata[1], <")
    assert "ById, is compared by identity" in text
    assert "__eq__ and a __hash__ by content" in text


# --------------------------------------------------------------------- variants of the five


@pytest.mark.parametrize("meta", [np.arange(3), [np.arange(3)], (np.zeros(()),)], ids=str)
def test_arrays_in_metadata_in_all_places(meta: Any) -> None:
    plant(good_flatten, good_unflatten)
    assert list(failed(check_pytree(Box(1.0, meta=meta)))) == ["metadata == and hash"]


def test_metadata_that_cannot_be_hashed() -> None:
    plant(good_flatten, good_unflatten)
    text = failed(check_pytree(Box(1.0, meta=("a", ["b"]))))["metadata == and hash"]
    assert "metadata[1], ['b'] of type list, cannot be hashed" in text
    assert "a tuple instead of a list" in text


class EqualWithOtherHash(ById):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, EqualWithOtherHash) and self.name == other.name

    __hash__ = object.__hash__


def test_equal_metadata_with_different_hashes() -> None:
    plant(good_flatten, good_unflatten)
    reasons = failed(check_pytree(Box(1.0, meta=EqualWithOtherHash("n"))))
    assert "is hashed by identity" in reasons["metadata by content"]


def test_metadata_made_anew_each_time() -> None:
    plant(lambda box: ((box.a, box.b), ById(box.meta)), lambda m, xs: bare(*xs, m.name))
    text = failed(check_pytree(Box(1.0)))["metadata == and hash"]
    assert "Two flattenings of one instance give metadata that is not equal" in text


class ComparesWithArrays(ById):
    def __eq__(self, other: object) -> Any:
        return np.array([True, False])

    def __hash__(self) -> int:
        return 0


def test_metadata_whose_comparison_is_an_array() -> None:
    plant(good_flatten, good_unflatten)
    text = failed(check_pytree(Box(1.0, meta=ComparesWithArrays("n"))))["metadata == and hash"]
    assert "has an == that returns numpy.ndarray instead of a bool" in text


@pytest.mark.parametrize(
    ("with_keys", "message"),
    [
        (lambda box: (((GetAttrKey("a"), box.a),), box.meta), "1 children, and flatten 2"),
        (
            lambda box: (((GetAttrKey("b"), box.b), (GetAttrKey("a"), box.a)), box.meta),
            "returned 2.0 for the key .b, where flatten returned 1.0",
        ),
        (
            lambda box: (((GetAttrKey("a"), box.a), (GetAttrKey("a"), box.b)), box.meta),
            "The key .a is there more than once",
        ),
        (
            lambda box: (((GetAttrKey("a"), box.a), (GetAttrKey("c"), box.b)), box.meta),
            "The key .c names an attribute that the instance does not have",
        ),
        (
            lambda box: (((GetAttrKey("a"), box.a), (GetAttrKey("b"), box.b)), "other"),
            "returned the metadata 'other', and flatten 'm'",
        ),
        (lambda box: 1 / 0, "flatten_with_keys raised ZeroDivisionError"),
    ],
)
def test_keys(with_keys: Any, message: str) -> None:
    plant(good_flatten, good_unflatten, with_keys)
    assert message in failed(check_pytree([Box(1.0, 2.0)]))["keys"]


class Table(dict[str, Any]):
    """A mapping with subscripts for keys."""


def test_subscripts_that_lead_to_another_child() -> None:
    register_pytree_with_keys(
        Table,
        lambda t: (tuple(zip(map(DictKey, reversed(t)), t.values(), strict=True)), tuple(t)),
        lambda names, xs: Table(zip(names, xs, strict=True)),
    )
    reasons = failed(check_pytree(Table(a=1.0, b=2.0)))
    assert "The key ['b'] leads to 2.0" in reasons["keys"]


def test_a_list_that_results_share_with_the_instance() -> None:
    plant(lambda box: ((box.a,), _Hidden(box.b)), lambda m, xs: bare(*xs, m.items, "m"))
    reasons = failed(check_pytree(Box(1.0, ["log"])))
    assert list(reasons) == ["independent instances"]
    assert "The list in .b is shared by the instance" in reasons["independent instances"]


class _Hidden:
    """Metadata with a usable ``==`` and ``hash``, and a live list inside."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hidden) and self.items == other.items

    def __hash__(self) -> int:
        return hash(tuple(self.items))


@pytest.mark.parametrize(
    ("unflatten", "check", "message"),
    [
        (lambda meta, xs: bare(xs[1], xs[0], meta), "round trip", "in another order"),
        (lambda meta, xs: bare(*xs, "z"), "round trip", "is 'z' after a round trip"),
        (lambda meta, xs: list(xs), "round trip", "returned an instance of list"),
        (
            lambda meta, xs: bare(xs[0] if hasattr(xs[0], "dtype") else 0.0, xs[1], meta),
            "unflatten with a string",
            "Child 0 came back as 0.0 of type float, where 'stand-in' of type str was put in",
        ),
    ],
)
def test_unflatten(unflatten: Any, check: str, message: str) -> None:
    plant(good_flatten, unflatten)
    assert message in failed(check_pytree(Box(1.0, 2.0)))[check]


def test_flatten_that_empties_the_instance() -> None:
    plant(lambda box: ((box.a.pop(),) if box.a else (), None), lambda m, xs: bare(list(xs), 0, m))
    text = failed(check_pytree(Box([1.0])))["flatten"]
    assert "1 children, and 0 the next time" in text


def test_flatten_that_raises() -> None:
    plant(lambda box: 1 / 0, good_unflatten)
    report = check_pytree(Box(1.0))
    assert "flatten raised" in failed(report)["flatten"]
    assert {result.status for result in report.results} == {"failed", "skipped"}


def test_instances_that_cannot_be_pickled() -> None:
    def flatten(box: Box) -> Any:
        return (box.a,), None

    def unflatten(_: Any, children: Any) -> Box:
        return bare(*children, None, lambda: None)

    plant(flatten, unflatten)
    assert "pickle raised" in failed(check_pytree(Box(1.0, meta=lambda: None)))["pickle"]


# -------------------------------------------------------------------------- good definitions


@dataclasses.dataclass
class Data:
    a: Any
    b: Any
    name: str


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str


def test_good_definitions_pass() -> None:
    plant(good_flatten, good_unflatten)
    register_dataclass(Data, ["a", "b"], ["name"])
    register_static(Mode)
    example = [
        Box(np.arange(3.0), {"k": (1, None)}),
        Data(1.0, OrderedDict(x=[2.0]), "n"),
        Mode("train"),
        Partial(max, 1.0, key=abs),
    ]
    report = check_pytree(example)
    assert report.ok, str(report)
    report.raise_if_failed()
    assert {result.path for result in report.results} == {"[0]", "[1]", "[2]", "[3]"}
    assert {result.status for result in report.results} == {"passed", "skipped"}
    skipped = {result.reason for result in report.of_status("skipped")}
    assert skipped == {"the node has no leaves"}


def test_a_class_in_a_function_is_not_pickled() -> None:
    @functools.partial(register_dataclass, data_fields=["x"], meta_fields=[])
    @dataclasses.dataclass
    class Local:
        x: Any

    report = check_pytree(Local(1.0))
    assert report.ok
    (result,) = [r for r in report.results if r.check == "pickle"]
    assert "pickle needs classes that can be imported by name" in result.reason


# --------------------------------------------------------------------------------- reporting


def test_a_report_that_checked_nothing_is_a_failure() -> None:
    for examples in ((), ([1.0, {"a": None}],)):
        report = check_pytree(*examples)
        assert not report.ok
        with pytest.raises(PyTreeConformanceError, match="nothing was checked"):
            report.raise_if_failed()


def test_expected_failures() -> None:
    plant(good_flatten, good_unflatten)
    box = Box(1.0, meta=ById("n"))
    reasons = dict.fromkeys(failed(check_pytree(box)), "known")
    report = check_pytree(box, expected_failures=reasons)
    assert report.ok
    assert len(report.of_status("expected failure")) == len(reasons)
    unexpected = check_pytree(Box(1.0), expected_failures={"keys": "known"})
    assert "was expected to fail (known), and passed" in failed(unexpected)["keys"]
    with pytest.raises(ValueError, match=r"no checks \['key'\]; the checks are \['flatten'"):
        check_pytree(box, expected_failures={"key": "known"})


def test_the_report_is_plain_data() -> None:
    plant(good_flatten, good_unflatten)
    data = json.loads(json.dumps(check_pytree([Box(1.0)]).as_dict()))
    assert data["ok"] is True
    assert data["planned"] == len(data["results"])
    assert data["results"][0] == {
        "check": "flatten",
        "type": f"{__name__}.Box",
        "path": "[0]",
        "status": "passed",
        "reason": "",
    }


def test_the_text_names_check_type_path_and_remedy() -> None:
    plant(good_flatten, good_unflatten)
    lines = str(check_pytree({"k": Box(1.0, meta=[])})).splitlines()
    assert lines[0].startswith("PyTreeReport: 19 planned, ")
    assert lines[1].startswith(
        f"failed: metadata == and hash, {__name__}.Box at ['k']: metadata, [] of type list, cannot"
    )
