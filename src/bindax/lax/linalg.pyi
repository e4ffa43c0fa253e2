from bindax_linalg import *
