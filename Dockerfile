# pipimem for `watch` and `dingtalk`; compose.yaml runs both. docker build -t pipimem .
# BASE: any image with a python3 of 3.11 or newer that can make virtual environments.
ARG BASE=python:3.13-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
# What the tests ran with, by hash; a layer of its own, since it changes seldom.
COPY requirements/run.txt requirements/
RUN python3 -m venv /opt/pipimem \
 && /opt/pipimem/bin/pip install --no-cache-dir --require-hashes --requirement requirements/run.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY requirements/wheel.txt requirements/
COPY prompts prompts
COPY workspace-template workspace-template
COPY pipimem pipimem
RUN /opt/pipimem/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
 && /opt/pipimem/bin/pip uninstall --quiet --yes hatchling editables tomlkit trove-classifiers

FROM ${BASE}
COPY --from=build /opt/pipimem /opt/pipimem
# Files of a workspace are for their owner alone: run it as whoever owns the folder (compose.yaml asks for the ids).
# No VOLUME: a mount that was forgotten must be noticed, not be kept in a nameless volume until the container goes.
RUN mkdir /workspace && chown 10001:10001 /workspace
ENV PATH=/opt/pipimem/bin:$PATH \
    HOME=/tmp \
    PIPIMEM_WORKSPACE=/workspace \
    PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /workspace
STOPSIGNAL SIGTERM
ENTRYPOINT ["pipimem"]
CMD ["watch"]
