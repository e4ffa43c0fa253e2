"""What is no test: the sources need the extension module, which the tests build elsewhere."""

collect_ignore = ["src", "setup.py"]
