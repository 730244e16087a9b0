"""Algorithms. Each works on many problems at once; a single fit is a grid of one."""
