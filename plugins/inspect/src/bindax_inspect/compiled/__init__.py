"""The compiled forms of a program, tied to its equations."""
