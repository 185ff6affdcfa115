"""How gunicorn serves the site, in the image and under `make run` alike."""

from gunicorn.http import message

# Two processes of four threads serve a small team well.
worker_class = "gthread"
workers = 2
threads = 4
graceful_timeout = 5
# Loaded before the fork, once instead of twice.
preload_app = True

# The address is the whole state of a page: a long list of keys must reach the form,
# which then names the parameter. gunicorn itself ends at 8190 bytes.
message.MAX_REQUEST_LINE = 1 << 16
limit_request_line = message.MAX_REQUEST_LINE - 1
