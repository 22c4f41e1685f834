"""The maintenance worker and the idle jobs that it runs."""
