"""Two thousand broken replies on a memory of sixty facts: what is lost, by this design and by two
others.
"""
