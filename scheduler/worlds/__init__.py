"""What a world is made of: stages, objects, bytes; `scheduler/world.py` joins them."""
