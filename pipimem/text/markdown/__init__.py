"""The Markdown of people, read into sections and blocks, and back byte for byte."""
