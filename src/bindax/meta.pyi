from bindax_axis_metadata import *
