"""One cluster in time: the schedulers, and everything that runs beside them."""
