"""What goes over the wire: a JSON schema for each task, and its answer parsed strictly or refused."""
