import type { SendToSelf } from "../../engine/pipeline/plain-http.ts";
import { IN_PROCESS_ORIGIN, type SandboxFetch } from "./create-fetch.ts";

/** Sends requests to this process's own engine, for hosts that do not listen. */
export function requestInProcess(fetch: SandboxFetch): SendToSelf {
  return async ({ method, target, headers, body }, signal) => {
    const sent = headers.filter(([name]) => name!.toLowerCase() !== "host") as [string, string][];
    const init = { method, headers: sent, body: body as Uint8Array<ArrayBuffer>, ...(signal && { signal }) };
    const answer = await fetch(new Request(IN_PROCESS_ORIGIN + target, init));
    return {
      status: answer.status,
      headers: [...answer.headers].flat(),
      body: new Uint8Array(await answer.arrayBuffer()),
    };
  };
}
