import ky from "ky";
import { base, headers, work } from "./work.mjs";

const client = ky.create({
  headers,
  redirect: "error",
  timeout: 3000,
  retry: {
    limit: 4,
    methods: ["get"],
    retryOnTimeout: true,
    jitter: true,
    delay: (attempt) => 200 * 2 ** attempt,
  },
});
await work((method, path, json) => client(base + path, { method, json }).json());
