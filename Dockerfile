# One image for web, worker, clock and migrate; docker-compose.yml says which is which.
FROM python:3.13-slim AS packages
WORKDIR /build
COPY requirements.txt .
RUN python -m venv /opt/quotalab \
 && /opt/quotalab/bin/pip install --no-cache-dir --disable-pip-version-check \
      --require-hashes --only-binary :all: -r requirements.txt

# The busiest modules of the engine as machine code, for the image's own Python.
FROM packages AS compiled
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY requirements-test.txt .
RUN /opt/quotalab/bin/pip install --no-cache-dir --disable-pip-version-check \
      --require-hashes --only-binary :all: -r requirements-test.txt
COPY scheduler scheduler
RUN QUOTALAB_COMPILED=no /opt/quotalab/bin/python -m scheduler.engine.compiled.build

FROM python:3.13-slim
# pg_dump of the version of docker-compose.yml's PostgreSQL; Debian's own is older and refuses it.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates postgresql-common \
 && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
 && apt-get install --yes --no-install-recommends postgresql-client-18 \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 999 --create-home --home-dir /home/quotalab quotalab \
 && printf '#!/bin/sh\nexec python -m api "$@"\n' > /usr/local/bin/quotalab \
 && chmod 755 /usr/local/bin/quotalab
COPY --from=packages /opt/quotalab /opt/quotalab
WORKDIR /srv/quotalab
COPY manage.py ./
COPY scheduler scheduler
COPY sandbox sandbox
COPY api api
COPY docs docs
COPY frontend/dist frontend/dist
COPY --from=compiled /build/.compiled .compiled
ENV PATH=/opt/quotalab/bin:$PATH \
    PYTHONPATH=/srv/quotalab \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=sandbox.settings
# A start draws a secret in its data folder: none may stay in the image.
RUN QUOTALAB_DATA=/tmp/data python manage.py apitypes --client \
 && rm -r /tmp/data \
 && python -m compileall -q scheduler sandbox api
USER quotalab
EXPOSE 8000
CMD ["uvicorn", "sandbox.live.asgi:application", "--http", "sandbox.live.body_limits:TimedProtocol", "--ws-per-message-deflate", "false"]
