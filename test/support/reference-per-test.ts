import { afterEach, beforeEach } from "vitest";
import { type Api, type ApiResponse, type Caller, startReference } from "./harness.ts";
import { stateRules } from "./state-rules.ts";

export const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
export const CONFIGS = "/v1/admin/connector/auth-configs";
export const TO_OPS = { new_parent_id: "dept_ops" };

export const getDecision = ({ headers }: ApiResponse) => headers.get("x-sandbox-decision");

/** A fresh reference world for each test of what frames every operation: credentials, limits, input, headers. */
export function useReferencePerTest() {
  let api: Api;
  beforeEach(async () => {
    api = await startReference();
  });
  afterEach(() => api.close());
  return {
    get url() {
      return api.url;
    },
    get understudy() {
      return api.understudy;
    },
    call: (...request: Parameters<Api["call"]>) => api.call(...request),
    advance: (milliseconds: number) => api.advance(milliseconds),
    /** The same world under other settings. */
    async restart(settings: NonNullable<Parameters<typeof startReference>[0]>["settings"]) {
      await api.close();
      api = await startReference({ settings });
    },
    /** A cheap operation without input that asks for a role. */
    listConfigs: (headers: Record<string, string> = {}, who?: Caller) =>
      api.call(who, "GET", CONFIGS, undefined, headers),
    /** One window's worth of requests less would do as well; this is the cheapest plan that has a limit. */
    setRateLimit: (organization: string, rate_limit: number) =>
      stateRules(api, "organizations").patch(organization, { rate_limit }),
  };
}
