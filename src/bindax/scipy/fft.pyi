from bindax_scipy.fft import *
