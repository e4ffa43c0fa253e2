"""Programs that are divided among the devices of a mesh."""
