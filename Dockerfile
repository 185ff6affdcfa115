# One image for the web server, the worker, the scheduler and the commands.
FROM node:24-bookworm-slim AS scripts
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund

FROM python:3.11-slim-bookworm
ENV PYTHONUNBUFFERED=1 \
    FRONTIERBOARD_DATA=/data \
    FRONTIERBOARD_STATIC_MANIFEST=1
WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY . .
COPY --from=scripts /build/node_modules/plotly.js-basic-dist-min/plotly-basic.min.js static/vendor/
RUN SECRET_KEY=only-for-this-step python manage.py collectstatic --noinput \
    && python -m whitenoise.compress staticfiles \
    && useradd --system --uid 10001 frontierboard \
    && install -d -o frontierboard /data
USER frontierboard
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "dashboard.wsgi", "--bind", "0.0.0.0:8000"]
