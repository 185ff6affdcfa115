"""What queries and decisions may hold, wherever they come from."""

# The largest id that a table holds.
LARGEST_ID = 2**63 - 1

# Of a regression's owner: asks for those that nobody owns.
NOBODY = "nobody"
LONGEST_NOTE = 4000
