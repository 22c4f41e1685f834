"""Is what is kept of a conversation what a good assistant would keep?

Ten stretches, labelled by hand.
"""
