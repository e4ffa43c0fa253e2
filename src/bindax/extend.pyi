from bindax_core.extend import *
