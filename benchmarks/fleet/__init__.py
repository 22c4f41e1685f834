"""Several hosts on one workspace, with faults: python -m benchmarks.fleet"""
