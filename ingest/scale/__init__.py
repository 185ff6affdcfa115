"""A large made-up database, written straight into the tables, for measuring pages.

Nothing of it comes from records: what pages read is there and consistent, and a replay
would find nothing to rebuild it from.
"""
