import { readLibraryOptions } from "../control/library-options.ts";
import type { Understudy } from "../control/understudy-options.ts";
import type { OnDelivery } from "../hosts/fetch/answer-deliveries.ts";
import { keepProcessAlive } from "../hosts/fetch/await-answer.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { assemble } from "../understudy.ts";
import { UnderstudyClient } from "./connect.ts";
import type { LocalUnderstudy } from "./create-understudy.ts";
import { ControlHttp } from "./http.ts";
import { readOwnOperations } from "./own-documents.ts";
import type { SandboxStart } from "./sandbox-start.ts";
import { createTransport, followRedirects, refuseAfterClose } from "./transport.ts";

/** Returns a client with the features of a server, without a server. @throws as `createSandbox` */
export async function createLocal({
  onDelivery,
  ...start
}: SandboxStart & { onDelivery?: OnDelivery | undefined }): Promise<LocalUnderstudy> {
  const understudy = refuseAfterClose(await assembleLocal(start, onDelivery));
  const fetch = (request: Request) => keepProcessAlive(understudy.fetch(request));
  const http = new ControlHttp(IN_PROCESS_ORIGIN, undefined, {
    transport: createTransport(fetch),
    fetch: followRedirects(fetch),
  });
  return Object.assign(new UnderstudyClient(http), { close: () => understudy.close() });
}

/** @throws DocumentError, Problem */
export async function assembleLocal(
  { operations, openapi, ...start }: SandboxStart,
  onDelivery?: OnDelivery,
): Promise<Understudy> {
  return assemble({
    ...start,
    onDelivery,
    operations: await readOwnOperations({ operations, openapi }),
    ...readLibraryOptions(start),
  });
}
