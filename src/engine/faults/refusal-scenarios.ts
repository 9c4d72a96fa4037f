import { CATALOGUE, type ErrorCode } from "../contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../contract/operation.ts";
import { computeOnce, getOrAdd } from "../maps.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ScenarioDocument } from "./rule-document.ts";
import {
  type Scenario,
  type ScenarioNames,
  type ScenarioSource,
  type ScenarioSubscriber,
  toScenario,
} from "./scenario.ts";

const REFUSAL_STATUSES: readonly number[] = [401, 403, 404, 422, 429];

/**
 * By code: the end of the scenario's name after the operation's id, and the reason in its description. Other codes use
 * their own name and the catalogue's message.
 */
const DESCRIPTIONS: Partial<Record<ErrorCode, readonly [suffix: string, reason: string]>> = {
  AUTHENTICATION_REQUIRED: ["signed-out", "the credentials are missing, wrong or no longer valid"],
  INSUFFICIENT_PERMISSIONS: ["forbidden", "the caller is known but lacks the permission"],
  ORGANIZATION_ACCESS_DENIED: ["foreign-organization", "the caller is not a member of the organization"],
  SESSION_ACCESS_DENIED: [
    "foreign-session",
    "the meeting session belongs to an organization the caller is not in",
  ],
  RESOURCE_NOT_FOUND: ["not-found", "the requested object does not exist, or the caller may not see it"],
  ORGANIZATION_NOT_FOUND: ["unknown-organization", "there is no such organization"],
  SESSION_NOT_FOUND: ["unknown-session", "there is no such meeting session"],
  FILE_NOT_IN_STORE: ["not-in-store", "the store does not contain the file"],
  DASHBOARD_NOT_FOUND: ["unknown-dashboard", "there is no such dashboard, or the caller may not see it"],
  DEPARTMENT_CYCLE_DETECTED: ["cycle", "the new parent is the department itself or lies below it"],
  INVALID_INPUT: ["invalid-input", "the service does not accept one of the values"],
  RATE_LIMIT_EXCEEDED: [
    "rate-limited",
    "the plan's requests for this minute are used up; Retry-After says how long to wait",
  ],
  SPENDING_LIMIT_EXCEEDED: ["out-of-budget", "a spending limit is reached"],
};

interface OperationRefusal {
  operation: AnyOperation;
  code: ErrorCode;
}

/**
 * A scenario for each documented 401, 403, 404, 422 and 429 of each operation, derived from the operations'
 * declarations: every request to the operation is answered with that code.
 */
export class RefusalScenarios {
  private readonly scenarios = new Map<string, Scenario>();
  private readonly getRefusals: () => ReadonlyMap<string, OperationRefusal>;

  constructor(operations: readonly AnyOperation[]) {
    this.getRefusals = computeOnce(() => findRefusals(operations));
  }

  has(name: string): boolean {
    return this.getRefusals().has(name);
  }

  listNames(): readonly string[] {
    return [...this.getRefusals().keys()];
  }

  find(name: string): Scenario | undefined {
    const refusal = this.getRefusals().get(name);
    if (refusal === undefined) return undefined;
    return getOrAdd(this.scenarios, name, () =>
      toScenario(toDocument(name, refusal), { name, file: undefined }, [refusal.operation]),
    );
  }
}

/** The scenarios that a sandbox can activate: the server's, and those derived from the operations that it alone has. */
export class SandboxScenarios implements ScenarioSource {
  private readonly server: ScenarioSource;
  private readonly sandbox: Pick<Sandbox, "ownResources" | "api">;
  private cached: { ownResources: Sandbox["ownResources"]; derived: RefusalScenarios } | undefined;

  constructor(server: ScenarioSource, sandbox: Pick<Sandbox, "ownResources" | "api">) {
    this.server = server;
    this.sandbox = sandbox;
  }

  /** The derived scenarios of the sandbox's own operations. */
  get derived(): RefusalScenarios {
    const { ownResources } = this.sandbox;
    if (this.cached?.ownResources !== ownResources)
      this.cached = {
        ownResources,
        derived: new RefusalScenarios(ownResources.flatMap(({ operations }) => operations)),
      };
    return this.cached!.derived;
  }

  get cachedNames(): ScenarioNames {
    const { derived, server } = this;
    return {
      has: (name) => derived.has(name) || server.cachedNames.has(name),
      listNames: () => [...server.cachedNames.listNames(), ...derived.listNames()],
    };
  }

  get(name: string): Scenario {
    return this.findDerived(name) ?? this.server.get(name);
  }

  getLastGood(name: string): Scenario {
    return this.findDerived(name) ?? this.server.getLastGood(name);
  }

  /** A derived scenario gives way to a written one of its name, as those of the server do. */
  private findDerived(name: string): Scenario | undefined {
    return this.derived.has(name) && !this.hasWritten(name) ? this.derived.find(name) : undefined;
  }

  has(name: string): boolean {
    return this.derived.has(name) || this.server.has(name);
  }

  hasWritten(name: string): boolean {
    return this.server.hasWritten(name);
  }

  get openedScenarios(): ReadonlyMap<string, Scenario> {
    return this.server.openedScenarios;
  }

  addDocument(name: string, document: object): boolean {
    return this.server.addDocument(name, document, this.sandbox.api);
  }

  subscribe(subscriber: ScenarioSubscriber): void {
    this.server.subscribe(subscriber);
  }

  unsubscribe(subscriber: ScenarioSubscriber): void {
    this.server.unsubscribe(subscriber);
  }
}

function findRefusals(operations: readonly AnyOperation[]): Map<string, OperationRefusal> {
  const entries = operations.flatMap((operation) =>
    listErrorCodes(operation)
      .filter((code) => REFUSAL_STATUSES.includes(CATALOGUE[code].status))
      .map((code) => [nameRefusal(operation, code), { operation, code }] as const),
  );
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function nameRefusal({ id }: AnyOperation, code: ErrorCode): string {
  return `${id.replaceAll(/[._]/g, "-")}-${getSuffix(code)}`;
}

function getSuffix(code: ErrorCode): string {
  return DESCRIPTIONS[code]?.[0] ?? code.toLowerCase().replaceAll("_", "-");
}

function toDocument(name: string, { operation, code }: OperationRefusal): ScenarioDocument {
  const { status, message } = CATALOGUE[code];
  const reason = DESCRIPTIONS[code]?.[1] ?? message[0]!.toLowerCase() + message.slice(1).replace(/\.$/, "");
  return {
    name,
    description: `${operation.summary.replace(/\.$/, "")}: answered with ${status}, because ${reason}.`,
    rules: [{ id: getSuffix(code), match: { operation: operation.id }, effect: { error: code } }],
  };
}
