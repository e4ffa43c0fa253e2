"""``shard_map``: one program for each device, on its part of each array."""
