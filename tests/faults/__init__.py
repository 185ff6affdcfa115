"""The product under faults: killed, cut off, filled up; nothing of it is lost."""
