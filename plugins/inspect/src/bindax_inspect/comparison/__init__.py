"""The search for the equation at which two ways to run a program part."""
