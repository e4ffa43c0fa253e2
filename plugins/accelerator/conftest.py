"""Leave out the doctests of the sources: the extension module is built elsewhere by the tests."""

collect_ignore = ["src", "setup.py"]
