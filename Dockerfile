# scrubjay with PostgreSQL support. `docker build -t scrubjay .`; how it is run: docs/deployment.md.

FROM python:3.13.9-slim-bookworm AS build
# wordllama has no wheel for Linux on ARM; on x86-64 nothing is compiled.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
RUN python -m venv /scrubjay
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src src
RUN /scrubjay/bin/pip install --no-cache-dir -c constraints.txt '.[postgres]'

FROM python:3.13.9-slim-bookworm
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin scrubjay \
    && install -d -o scrubjay -g scrubjay -m 0700 /data
COPY --from=build /scrubjay /scrubjay
# Settings and tokens lie in /data/config, a SQLite store and the log in /data/scrubjay. Pending work is left to a worker.
ENV PATH=/scrubjay/bin:$PATH \
    HOME=/data \
    XDG_CONFIG_HOME=/data/config \
    XDG_DATA_HOME=/data \
    XDG_CACHE_HOME=/data/cache \
    SCRUBJAY_USER=owner \
    SCRUBJAY_MODELS_BACKGROUND=never
USER 10001
VOLUME /data
EXPOSE 8765
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/readyz', timeout=4)"]
ENTRYPOINT ["scrubjay"]
CMD ["serve", "0.0.0.0:8765"]
