"""Benchmarks: one command each, every figure printed with the machine and the versions it was
measured on.
"""
