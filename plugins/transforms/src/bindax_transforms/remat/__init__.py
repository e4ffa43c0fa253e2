"""Rematerialization: ``checkpoint``, its policies, and the residuals that are saved."""
