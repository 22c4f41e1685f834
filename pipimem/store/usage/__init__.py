"""What model calls cost a workspace: the ledger of calls, and reservations for the next."""
