from bindax_numpy.fft import *
