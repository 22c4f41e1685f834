"""What operators see of a running memory: spans, metrics, health, log lines."""
