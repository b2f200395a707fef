# One image for web, worker, clock and migrate; docker-compose.yml says which is which.
FROM python:3.13-slim AS packages
WORKDIR /build
COPY requirements.txt .
RUN python -m venv /opt/quotalab \
 && /opt/quotalab/bin/pip install --no-cache-dir --disable-pip-version-check \
      --require-hashes --only-binary :all: -r requirements.txt

FROM python:3.13-slim
RUN useradd --system --uid 999 --create-home --home-dir /home/quotalab quotalab
COPY --from=packages /opt/quotalab /opt/quotalab
WORKDIR /srv/quotalab
COPY manage.py ./
COPY scheduler scheduler
COPY sandbox sandbox
COPY api api
COPY docs docs
COPY frontend/dist frontend/dist
ENV PATH=/opt/quotalab/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=sandbox.settings
RUN python -m compileall -q scheduler sandbox api
USER quotalab
EXPOSE 8000
CMD ["uvicorn", "sandbox.live.asgi:application", "--http", "sandbox.live.connection_timeouts:TimedProtocol", "--ws-per-message-deflate", "false"]
