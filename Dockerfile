# Understudy as a service for a team: docker build -t understudy . (docs/keeping-and-sharing.md)
FROM node:24-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund && mkdir /packed && npm pack --ignore-scripts --pack-destination /packed

FROM node:24-slim
WORKDIR /opt/understudy
COPY --from=build /packed/ /packed/
RUN npm install --omit=dev --no-audit --no-fund /packed/understudy-sandbox-*.tgz \
  && rm -rf /packed /root/.npm \
  && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4747
# It reads the control token from UNDERSTUDY_TOKEN, as the server does.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
  CMD ["node", "/opt/understudy/node_modules/understudy-sandbox/bin/understudy.js", "status"]
ENTRYPOINT ["node", "/opt/understudy/node_modules/understudy-sandbox/bin/understudy.js"]
CMD ["start", "--shared", "--host", "0.0.0.0", "--persist", "/data"]
