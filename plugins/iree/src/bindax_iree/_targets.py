"""The targets of compilation: flags of the compiler, and the drivers that run programs."""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    """A kind of machine that programs are compiled for.

    Attributes:
        name: what ``deploy`` calls it.
        driver: the driver of IREE's runtime that runs the program there.
        flags: the flags of ``iree-compile``.
        processor_flag: the flag that names the processor or device to compile for; empty where
            there is none.
        processor: the one that programs are compiled for by default; empty where the compiler
            chooses.
    """

    name: str
    driver: str
    flags: tuple[str, ...]
    processor_flag: str = ""
    processor: str = ""


def _cpu(name: str, triple: str, processor: str, *more: str) -> Target:
    flags = (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        *([f"--iree-llvmcpu-target-triple={triple}"] if triple else []),
        *more,
    )
    return Target(name, "local-task", flags, "--iree-llvmcpu-target-cpu", processor)


def _device(name: str, driver: str, flag: str, processor: str = "") -> Target:
    return Target(name, driver, (f"--iree-hal-target-device={driver}",), flag, processor)


HOST: Target = _cpu("host", "", "host")
"""The processor of this machine."""

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        _cpu("x86-64", "x86_64-unknown-linux-gnu", "x86-64"),
        _cpu("aarch64", "aarch64-unknown-linux-gnu", "generic"),
        _cpu(
            "riscv64",
            "riscv64-unknown-linux-gnu",
            "generic-rv64",
            "--iree-llvmcpu-target-cpu-features=+m,+a,+f,+d,+c",
            "--iree-llvmcpu-target-abi=lp64d",
        ),
        _cpu("wasm32", "wasm32-unknown-emscripten", "generic"),
        _device("vulkan", "vulkan", "--iree-vulkan-target"),
        _device("cuda", "cuda", "--iree-cuda-target"),
        _device("rocm", "hip", "--iree-rocm-target", "gfx942"),
        _device("metal", "metal", "--iree-metal-target"),
        Target(
            "vmvx",
            "local-task",
            (
                "--iree-hal-target-device=local",
                "--iree-hal-local-target-device-backends=vmvx",
            ),
        ),
    )
}
"""The targets of ``deploy`` by name."""


def processor_flags(target: Target, processor: str | None) -> list[str]:
    """The flag for a processor of a target, or for the one that it has by default."""
    chosen = processor or target.processor
    return [f"{target.processor_flag}={chosen}"] if chosen else []


def target_of_driver(driver: str) -> Target:
    """The target of programs for the device that a driver has on this machine."""
    if driver.startswith("local"):
        return HOST
    found = [target for target in TARGETS.values() if target.driver == driver]
    return found[0] if found else Target(driver, driver, (f"--iree-hal-target-device={driver}",))
