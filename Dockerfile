# earlybird in an image: docker build -t earlybird . && docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" earlybird demo
# `emulate`, and worlds in real time, lay networks: docker run --user root --cap-add NET_ADMIN --cap-add SYS_ADMIN …

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /venv && /venv/bin/pip install --no-cache-dir 'maturin>=1.9,<2'
WORKDIR /source
COPY . .
RUN /venv/bin/maturin build --profile extension --locked --strip --out /dist

FROM python:3.13-slim-bookworm
RUN --mount=from=build,source=/dist,target=/dist \
    pip install --no-cache-dir "$(echo /dist/*.whl)[all,dask]"
# Not root: of the mounted folder, --user "$(id -u):$(id -g)" makes files that belong to the caller.
RUN useradd --create-home --uid 1000 earlybird && install --directory --owner earlybird /work
USER earlybird
WORKDIR /work
ENTRYPOINT ["earlybird"]
