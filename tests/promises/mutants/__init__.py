"""Small faults in the code that the promises must notice: one patch a file, applied in turn."""
