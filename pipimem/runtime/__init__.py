"""Where memory is run for real: the clock, the tasks, the locks, the commits."""
