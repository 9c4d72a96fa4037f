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
# In shared mode the control API asks for the token, which UNDERSTUDY_TOKEN holds.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4747/_control/health', { headers: { authorization: `Bearer ${process.env.UNDERSTUDY_TOKEN}` } }).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/understudy/node_modules/understudy-sandbox/bin/understudy.js"]
CMD ["start", "--shared", "--host", "0.0.0.0", "--persist", "/data"]
