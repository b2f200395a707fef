"""What is given and decides nothing here: fields of Kueue, of controllers, of pods."""
