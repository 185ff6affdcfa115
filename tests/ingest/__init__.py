"""Tests of the way from artifacts to tables."""
