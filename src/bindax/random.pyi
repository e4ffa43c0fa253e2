from bindax_random import *
