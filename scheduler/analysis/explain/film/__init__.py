"""A decision as a film: frames that a stage draws, one model for every scheduler.

- `moments.film_of(world_before, subject, decision)`: the tick is run again and listened to
- `moments.film_now(world, key)`: what would be decided about it now
- `kueue`, `kube`, `pods`, `yunikorn`: frames of what was heard; pure

The words are in `scheduler.words.film`. A question comes in a frame of its own, its
answer in the next one: nothing of an answer is in the frames before it.
"""
