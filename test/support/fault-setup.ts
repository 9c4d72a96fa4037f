import type { AnyOperation } from "../../src/engine/contract/operation.ts";
import type { Resource } from "../../src/engine/contract/resource.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { SandboxFaults } from "../../src/engine/faults/faults.ts";
import { RefusalScenarios } from "../../src/engine/faults/refusal-scenarios.ts";
import { API } from "../../src/engine/resources/index.ts";
import type { FaultFacts, FaultVerdict } from "../../src/engine/sandbox/fault-types.ts";
import type { Sandbox } from "../../src/engine/sandbox/sandbox.ts";

/** Faults without a server. */
export const OPERATIONS: readonly AnyOperation[] = API.operations;

export function findOperation(id: string): AnyOperation {
  const found = OPERATIONS.find((operation) => operation.id === id);
  if (found === undefined) throw new Error(`there is no operation ${id}`);
  return found;
}

export function createFaults(seed: number): SandboxFaults {
  const derived = new RefusalScenarios(API.operations);
  const get = (name: string) => derived.find(name)!;
  const has = (name: string) => derived.has(name);
  const scenarios = {
    ...{ get, getLastGood: get, has, cachedNames: derived, subscribe() {}, unsubscribe() {} },
    ...{ openedScenarios: new Map(), addDocument: () => false, hasWritten: () => false },
  };
  const sandbox = { seed, api: API, ownResources: [] as readonly Resource[] } as Sandbox;
  return new SandboxFaults({ scenarios, serverRules: [], overrides: true, readSpending: () => [] }, sandbox);
}

export interface CallFields {
  user?: string;
  key?: string;
  organization?: string;
  path?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export function createFacts(operation_id: string, sent: CallFields = {}): FaultFacts {
  const operation = findOperation(operation_id);
  const { user, key = "apikey_x", organization = "org_acme" } = sent;
  const facts = {
    operation,
    method: operation.method,
    path: sent.path ?? operation.path.replaceAll(/\{\w+\}/g, "x"),
    params: {},
    query: new URLSearchParams(sent.query),
    headers: sent.headers ?? {},
    principal:
      user === undefined
        ? undefined
        : { user_id: user, key_id: key, organization_id: organization, credential: "api_key" as const },
    organization,
    callerRefusal: undefined,
    world: undefined as never,
    settings: DEFAULT_SETTINGS,
    rate: undefined,
    body: undefined as unknown,
    hasReadBody: false,
    async readBody() {
      facts.body = sent.body;
      facts.hasReadBody = true;
    },
  };
  return facts;
}

/** Evaluates one call. Returns the decision, or `-` if there is none. */
export async function decideCall(
  faults: SandboxFaults,
  operation_id: string,
  sent?: CallFields,
): Promise<string> {
  const { injection } = await evaluateCall(faults, operation_id, sent);
  return injection?.decision ?? "-";
}

export async function evaluateCall(
  faults: SandboxFaults,
  operation_id: string,
  sent?: CallFields,
): Promise<FaultVerdict> {
  return await faults.before(createFacts(operation_id, sent));
}
