"""Starts and stops Frontierboard's own processes; knows no Django."""
