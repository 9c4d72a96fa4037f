import type { AnyOperation } from "../../../engine/contract/operation.ts";
import type { Check, Context } from "../check.ts";
import { checkSuccess, checkWellFormed } from "../check-answer.ts";
import { checkUnauthenticated } from "../check-refusal.ts";
import type { Contract } from "../contract.ts";
import { type Call, changesNothing } from "../exchange.ts";
import { inventParams, listParameterNames } from "../known-objects.ts";
import { isHarmless } from "../own-operation.ts";

/**
 * Checks section 5, rule 1, on every operation. A request to a writing operation has neither credentials nor
 * body, and names objects that do not exist, so that a service without the check changes nothing.
 */
function createNoCredentialsChecks({ operations }: Contract): Check[] {
  const protectedOperations = operations.filter((one) => one.credentials !== false && canBeCalled(one));
  return protectedOperations.map((operation) => ({
    id: `${operation.id}/no-credentials`,
    family: "credentials",
    section: operation.section,
    title: `${operation.id} answers 401 without credentials`,
    run: (context) => callWithoutCredentials(context, operation),
  }));
}

/** Whether the call is safe: an own operation that checks no caller might change something, unless its path needs an id. */
function canBeCalled(operation: AnyOperation): boolean {
  return (
    operation.sourceFile === undefined || isHarmless(operation) || listParameterNames(operation).length > 0
  );
}

async function callWithoutCredentials(
  { target, known, verdict }: Context,
  operation: AnyOperation,
): Promise<void> {
  // Operations that only read are asked for an existing object, which proves most.
  const [knownValues] = isHarmless(operation) ? known.listPathValues(operation, 1) : [];
  const params = inventParams(operation, knownValues);
  const call: Call = { operation, params, credential: "none", endsAfterFirstEvents: true };
  if (params === undefined || !changesNothing(call))
    return verdict.notObservable("an invented id in its path might be that of an object");
  const exchange = await target.send(call);
  checkUnauthenticated(verdict, exchange);
}

const CREDENTIAL_FORMS: readonly [
  id: string,
  name: string,
  header: (key: string) => Record<string, string>,
][] = [
  ["api-key", "api-key", (key) => ({ "api-key": key })],
  ["x-api-key", "X-API-Key", (key) => ({ "X-API-Key": key })],
  ["authorization", "Authorization: Bearer", (key) => ({ Authorization: `Bearer ${key}` })],
];

/** Has the form of section 2.15, but was never issued. */
const UNKNOWN_KEY = `ak_${"nobody0".padEnd(39, "0")}`;

const formChecks: Check[] = CREDENTIAL_FORMS.flatMap(([id, name, header]) => [
  {
    id: `credentials/${id}`,
    family: "credentials",
    section: "5",
    title: `the key is accepted as ${name}`,
    async run(context) {
      const { target, verdict } = context;
      const exchange = await context.send("models.list", { credential: header(target.options.key) });
      if (!checkWellFormed(verdict, exchange)) return;
      const accepted = exchange.status !== 401;
      if (verdict.expect(accepted, `the key is refused with 401 when sent as ${name}`))
        checkSuccess(verdict, exchange);
    },
  },
  {
    id: `credentials/${id}-unknown`,
    family: "credentials",
    section: "5",
    title: `an unknown key as ${name} is 401`,
    async run(context) {
      const exchange = await context.send("models.list", { credential: header(UNKNOWN_KEY) });
      checkUnauthenticated(context.verdict, exchange);
    },
  },
]);

const malformedCheck: Check = {
  id: "credentials/malformed",
  family: "credentials",
  section: "5",
  title: "a malformed key and an invalid token are 401",
  async run(context) {
    const malformed: Record<string, string>[] = [
      { "api-key": "unknown" },
      { Authorization: "Bearer not.a.token" },
    ];
    for (const credential of malformed)
      checkUnauthenticated(context.verdict, await context.send("models.list", { credential }));
  },
};

export const createCredentialChecks = (contract: Contract): Check[] => [
  ...formChecks,
  malformedCheck,
  ...createNoCredentialsChecks(contract),
];
