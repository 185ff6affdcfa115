"""The one error of the launcher: a sentence for the person who started it."""


class LaunchError(Exception):
    """Something cannot be started; the message is one clear line."""
