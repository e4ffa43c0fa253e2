"""Staging: from functions to jaxprs."""
