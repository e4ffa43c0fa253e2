"""The extension module: one wheel for each platform serves all versions of Python."""

import sysconfig

from setuptools import Extension, setup

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise SystemExit(
        "bindax-accelerator needs the global lock of Python, which this Python does not have; "
        "bindax works without bindax-accelerator."
    )

setup(
    ext_modules=[
        Extension(
            "bindax_accelerator._native",
            ["src/bindax_accelerator/_native.c"],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
