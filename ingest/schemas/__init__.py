"""One pydantic module per kind of record; types only, no meaning.

Fields that are not named here are allowed: they stay in the stored record.
"""
