"""How events are written: one line each on stderr, from structlog and logging alike.

Values are written as their repr or as JSON, so that none of them can end a line or
forge another one.
"""

import logging
from typing import Any

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

LONGEST_VALUE = 2000
_FIRST = ["timestamp", "level", "logger", "event"]


def logging_settings(form: str) -> dict[str, Any]:
    """Return Django's LOGGING for ``keyvalue`` or ``json`` lines, and set up structlog.

    What is bound to a request or a task stands in every line written meanwhile.
    """
    steps: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _cut,
        structlog.processors.format_exc_info,
    ]
    _configure(steps)
    logging.captureWarnings(capture=True)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "events": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": steps,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    _renderer(form),
                ],
            },
        },
        "filters": {"in one line": {"()": lambda: _in_one_line}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "events"}
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            "django": {"level": "INFO", "propagate": True, "handlers": []},
            "django.security.DisallowedHost": {"filters": ["in one line"]},
        },
    }


def _configure(steps: list[Processor]) -> None:
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *steps,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _renderer(form: str) -> Processor:
    if form == "json":
        return structlog.processors.JSONRenderer()
    return structlog.processors.KeyValueRenderer(key_order=_FIRST)


def _cut(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Shorten what strangers may make as long as a request line."""
    for name, value in event.items():
        if isinstance(value, str) and len(value) > LONGEST_VALUE:
            event[name] = f"{value[:LONGEST_VALUE]}... ({len(value)} characters)"
    return event


def _in_one_line(record: logging.LogRecord) -> bool:
    """Tell without its traceback that a stranger sent a name that is not the site's."""
    record.levelno, record.levelname = logging.WARNING, "WARNING"
    record.exc_info = None
    return True
