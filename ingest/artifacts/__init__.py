"""Artifacts as they come: names, members, bundles, JSON; nothing of their meaning."""
