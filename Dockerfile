# One image for web server, worker, scheduler and commands, made in three stages: only
# the last one is kept, and it holds no compiler, no npm, no pip cache and no tests.

# The pages' scripts, from the lock.
FROM node:24.19-bookworm-slim AS scripts
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund

# The packages, each by its hash, and the collected files, packed once instead of at
# every request.
FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
RUN python -m venv /app/.venv
WORKDIR /app
COPY requirements.txt ./
RUN .venv/bin/pip install --require-hashes --no-deps -r requirements.txt
COPY manage.py gunicorn.conf.py ./
COPY launcher launcher
COPY dashboard dashboard
COPY ingest ingest
COPY demo demo
COPY templates templates
COPY static static
COPY --from=scripts /build/node_modules/plotly.js-basic-dist-min/plotly-basic.min.js static/vendor/
# The key signs nothing: this step serves nobody.
RUN FRONTIERBOARD_STATIC_MANIFEST=1 SECRET_KEY=only-for-this-step \
    .venv/bin/python manage.py collectstatic --noinput \
    && .venv/bin/python -m whitenoise.compress staticfiles \
    && .venv/bin/python -m compileall -q dashboard ingest launcher demo .venv/lib \
    && .venv/bin/pip uninstall -y -q pip setuptools \
    && rm -rf .data

FROM python:3.11-slim-bookworm
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    FRONTIERBOARD_DATA=/data \
    FRONTIERBOARD_STATIC_MANIFEST=1
# By number: Kubernetes can see then that it is not root.
RUN useradd --system --uid 10001 --home-dir /nonexistent frontierboard \
    && install -d -o frontierboard /data
COPY --from=build /app /app
WORKDIR /app
USER 10001
VOLUME /data
EXPOSE 8000
# Of the web server; other processes are given theirs by docker-compose.yml.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["gunicorn", "dashboard.wsgi", "--bind", "0.0.0.0:8000"]
