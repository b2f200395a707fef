"""What a world is made of: stages, objects, bytes; `scheduler/engine/world.py` joins them."""
