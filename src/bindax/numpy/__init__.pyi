from bindax_numpy import *
