"""Tests of the launcher: real processes, each on a data folder of its own."""
