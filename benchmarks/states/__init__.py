"""Damaged files of ours, and whether anything of ours breaks over them."""
