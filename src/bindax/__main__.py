"""``python -m bindax`` is the command ``bindax``."""

from bindax._cli import main

main(prog_name="bindax")
