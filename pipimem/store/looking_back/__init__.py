"""What the journal tells of the past: who wrote what, how it stood, and one change taken back."""
