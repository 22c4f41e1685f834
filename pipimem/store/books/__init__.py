"""What models cost a workspace: the ledger of calls, and the holds of those under way."""
