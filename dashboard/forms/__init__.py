"""Query strings, validated: an unknown value names its parameter and the allowed."""
