import { readSandboxStart } from "../control/sandbox-start.ts";
import type { Understudy } from "../control/understudy-options.ts";
import { type OperationSource, toOperationsOption } from "../engine/own/join.ts";
import type { OnDelivery } from "../hosts/fetch/answer-deliveries.ts";
import { keepProcessAlive } from "../hosts/fetch/await-answer.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { assemble } from "../understudy.ts";
import { UnderstudyClient } from "./connect.ts";
import type { LocalUnderstudy } from "./create-understudy.ts";
import { ControlHttp } from "./http.ts";
import type { SandboxStart } from "./sandbox-start.ts";
import { createTransport, refuseAfterClose } from "./transport.ts";

/** Returns a client with the features of a server, without a server. @throws as `createSandbox` */
export function createLocal(
  { onDelivery, ...start }: SandboxStart & { onDelivery?: OnDelivery | undefined },
  ownSources: readonly OperationSource[] = [],
): LocalUnderstudy {
  const understudy = refuseAfterClose(assembleLocal(start, ownSources, onDelivery));
  const fetch = (request: Request) => keepProcessAlive(understudy.fetch(request));
  const http = new ControlHttp(IN_PROCESS_ORIGIN, undefined, { transport: createTransport(fetch), fetch });
  return Object.assign(new UnderstudyClient(http), { close: () => understudy.close() });
}

/** @throws DocumentError, Problem */
export function assembleLocal(
  { operations, ...start }: SandboxStart,
  ownSources: readonly OperationSource[] = [],
  onDelivery?: OnDelivery,
): Understudy {
  return assemble({
    ...start,
    onDelivery,
    operations: [...(toOperationsOption(operations).operations ?? []), ...ownSources],
    ...readSandboxStart(start),
  });
}
