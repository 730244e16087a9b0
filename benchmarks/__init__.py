"""Measurements of tikhon against other packages, at equal accuracy; see README.md beside this file.

Not part of the wheel. Everything here runs from the root of the repository as
``python -m benchmarks.<module>``.
"""
