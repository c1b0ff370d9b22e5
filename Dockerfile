# The relay, without its tests and without a Node beside the image's own, which is of the version package.json names.
FROM node:24.21.0-alpine AS packages
WORKDIR /relay
COPY package.json package-lock.json ./
# The npm package `node` brings a binary by its install script, which the image does not need.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/node node_modules/.bin/node
COPY scripts scripts
COPY schemas schemas
COPY projections projections
COPY src src
COPY packages/embedded-engine packages/embedded-engine
RUN node scripts/build.js

# The pages for people. Their libraries are in no image but this stage's.
FROM node:24.21.0-alpine AS pages
WORKDIR /relay
COPY package.json package-lock.json tsconfig.json ./
COPY packages packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY scripts scripts
COPY schemas schemas
RUN node scripts/build-dashboard.js

FROM node:24.21.0-alpine
# The commit that the image is built from: --build-arg REVISION=$(git rev-parse HEAD). relay_build_info shows it.
ARG REVISION=unknown
ENV NODE_ENV=production RELAY_HOST=0.0.0.0 RELAY_DATA_DIR=/data RELAY_REVISION=$REVISION
WORKDIR /relay
COPY --from=packages /relay/node_modules node_modules
COPY --from=packages /relay/build build
COPY --from=pages /relay/build/dashboard build/dashboard
COPY package.json LICENSE ./
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.RELAY_PORT??8080)+'/readyz').then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning", \
  "--max-semi-space-size=16", "build/src/main.js"]
