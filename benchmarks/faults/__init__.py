"""Journeys, kills and errors at file calls, for the benchmarks of editors, states and fleets."""
