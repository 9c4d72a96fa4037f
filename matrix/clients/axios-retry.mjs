import axios from "axios";
import axiosRetry, { exponentialDelay, isNetworkOrIdempotentRequestError, retryAfter } from "axios-retry";
import { base, headers, work } from "./work.mjs";

const client = axios.create({
  baseURL: base,
  headers,
  timeout: 3000,
  maxRedirects: 0,
  responseType: "json",
  transitional: { silentJSONParsing: false },
});
axiosRetry(client, {
  retries: 4,
  shouldResetTimeout: true,
  retryCondition: (error) =>
    error.config?.method === "get" &&
    (isNetworkOrIdempotentRequestError(error) ||
      error.response?.status === 429 ||
      error.code === "ECONNABORTED"),
  retryDelay: (count, error) => Math.max(retryAfter(error), exponentialDelay(count, error, 200)),
});
await work(async (method, url, data) => (await client.request({ method, url, data })).data);
