"""The measured time of compiled programs."""
