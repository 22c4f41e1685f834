"""The promises of pipimem as black-box tests: what a user may rely on, whatever the code inside.

They use the public Python API, the command line, the HTTP servers and bytes on disk. They import no
private name and replace no function of ours. Names of the public API that may change go through
`front_door.py`, the only file to edit when they do. Each promise has a short form that the gate
runs, and a long one (`pytest tests/promises --long`: thousands of kills) that prints its count.
"""
