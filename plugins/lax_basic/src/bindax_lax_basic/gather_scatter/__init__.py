"""Reading and writing windows at positions that are arrays themselves."""
