"""Several hosts on one workspace: locks by a database's leases, made good at the files."""
