"""Template tags and filters: how values are written on pages."""
