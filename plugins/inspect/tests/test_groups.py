"""The devices of an exchange, read from the text of a compiled program."""

from __future__ import annotations

import pytest

from bindax_core.extend import BackendError
from bindax_core.sharding import AbstractMesh
from bindax_inspect.divided.groups import group_of

MESH = AbstractMesh((2, 4), ("data", "model"))
CUBE = AbstractMesh((2, 2, 4), ("x", "y", "z"))


@pytest.mark.parametrize(
    ("text", "axes", "members"),
    [
        ("replica_groups={{0,1,2,3},{4,5,6,7}}", ("model",), (0, 1, 2, 3)),
        ("replica_groups={{0,4},{1,5},{2,6},{3,7}}", ("data",), (0, 4)),
        ("replica_groups={{0,1,2,3,4,5,6,7}}", ("data", "model"), tuple(range(8))),
        ("replica_groups={}", ("data", "model"), tuple(range(8))),
        ("replica_groups=[2,4]<=[8]", ("model",), (0, 1, 2, 3)),
        ("replica_groups=[4,2]<=[2,4]T(1,0)", ("data",), (0, 4)),
        ("replica_groups=mesh['a'=2,'b'=4] {'a'}", ("data",), (0, 4)),
        ("replica_groups=mesh['a'=2,'b'=4,'c'=1] {'a','b'}", ("data", "model"), tuple(range(8))),
        ("replica_groups=mesh['a'=2,'b'=4] {'b':(2)2}", ("model (2 of 4)",), (0, 1)),
        ("replica_groups=mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b'}", ("data",), (0, 4)),
        (
            "replica_groups=mesh['a'=4,'b'=1,'c'=2], device_ids=([2,4]T(1,0)) {'a'}",
            ("model",),
            (0, 1, 2, 3),
        ),
        ("replica_groups=mesh['a'=2,'b'=4], device_ids=([8]) {'b'}", ("model",), (0, 1, 2, 3)),
        (
            "replica_groups=mesh['a'=2,'b'=4], device_ids=(0,2,4,6,1,3,5,7) {'a'}",
            ("model (2 of 4)",),
            (0, 1),
        ),
        ("replica_groups={{0,1},{2,3},{4,5},{6,7}}", ("model (2 of 4)",), (0, 1)),
        ("replica_groups={{0},{1},{2},{3},{4},{5},{6},{7}}", (), (0,)),
    ],
)
def test_groups_of_a_reduction(text: str, axes: tuple[str, ...], members: tuple[int, ...]) -> None:
    group = group_of(f"%r = f32[8] all-reduce(%x), channel_id=1, {text}, to_apply=%add", MESH)
    assert (group.axes, group.size, tuple(group.members[0])) == (axes, len(members), members)


@pytest.mark.parametrize(
    ("pairs", "axes", "size"),
    [
        ("{{0,1},{1,2},{2,3},{3,0}}", ("z",), 4),
        ("{{0,4},{4,0}}", ("y",), 2),
        ("{{0,12},{5,5}}", ("x", "y"), 4),
        ("{{3,3}}", (), 1),
        ("{}", (), 1),
    ],
)
def test_pairs_of_a_permutation(pairs: str, axes: tuple[str, ...], size: int) -> None:
    group = group_of(f"%r = f32[8] collective-permute(%x), source_target_pairs={pairs}", CUBE)
    assert (group.axes, group.size) == (axes, size)


def test_groups_in_an_unknown_form() -> None:
    with pytest.raises(BackendError, match=r"exchange in .*replica_groups=<8> cannot be read"):
        group_of("%r = f32[8] all-reduce(%x), replica_groups=<8>", MESH)


def test_domains_of_a_group() -> None:
    assert group_of("replica_groups={{0,4},{1,5}}", MESH).domains(4) == 2
    assert group_of("replica_groups={{0,1,2,3}}", MESH).domains(4) == 1
    assert group_of("source_target_pairs={{0,1},{3,4}}", MESH).domains(4) == 2
