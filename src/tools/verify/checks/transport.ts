import type { Check } from "../check.ts";
import { judgeRefusal } from "../judge-refusal.ts";
import { madeUpParams, whatIsMissing } from "../parameters.ts";

/** G04 and G09: what never reaches an operation. The reading POST of 4.16 stands for all that take JSON. */
export const transportChecks: readonly Check[] = [
  {
    id: "transport/no-route",
    family: "refusals",
    section: "G04",
    title: "a path that nobody declares is 404 in envelope A",
    async run({ target, verdict }) {
      const exchange = await target.send({ path: "/v1/understudy-verify/nobody0" });
      judgeRefusal(verdict, exchange, { code: "RESOURCE_NOT_FOUND", gap: "G04" });
    },
  },
  {
    id: "transport/method",
    family: "refusals",
    section: "G04",
    title: "a method that a path does not take is 405 with Allow",
    async run({ contract, target, verdict }) {
      // Reading is the one method that can be tried without harm, so it is a path that only takes POST.
      const exchange = await target.send({ path: contract.operation("model_responses.create").path });
      judgeRefusal(verdict, exchange, { code: "METHOD_NOT_ALLOWED", gap: "G04" });
      if (exchange.status === 405) {
        const allow = exchange.headers.get("allow") ?? "";
        verdict.expect(allow.split(/,\s*/).includes("POST"), `Allow is "${allow}", without POST`, "G04");
      }
    },
  },
  broken("json", "a body that is not JSON is 400", { body: '{"broken', type: "application/json" }),
  broken("media-type", "another content type than JSON is 415", { body: "take=1", type: "text/plain" }),
];

function broken(name: string, title: string, { body, type }: { body: string; type: string }): Check {
  return {
    id: `transport/${name}`,
    family: "refusals",
    section: "G09",
    title,
    async run({ contract, target, known, verdict }) {
      const operation = contract.operation("change_logs.list");
      const organization_id = known.one("organization_id");
      if (organization_id === undefined)
        return verdict.notObservable(whatIsMissing(known, ["organization_id"]));
      const params = madeUpParams(operation, { organization_id });
      const exchange = await target.send({ operation, params, body, headers: { "content-type": type } });
      const code = name === "json" ? "INVALID_JSON" : "UNSUPPORTED_MEDIA_TYPE";
      judgeRefusal(verdict, exchange, { code, gap: "G09", envelope: "A" });
    },
  };
}
