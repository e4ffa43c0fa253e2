"""Solutions of ordinary differential equations."""

from bindax_scipy.ode import odeint as odeint

__all__ = ["odeint"]
