import { afterEach, beforeEach } from "vitest";
import { type Api, type ApiResponse, type Caller, startReference } from "./harness.ts";
import { getStateRules } from "./state-rules.ts";

export const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
export const CONFIGS = "/v1/admin/connector/auth-configs";
export const TO_OPS = { new_parent_id: "dept_ops" };

export const getDecision = ({ headers }: ApiResponse) => headers.get("x-sandbox-decision");

/** Starts a new reference world for each test of what all operations share: credentials, limits, input, headers. */
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
    /** Starts the same world with other settings. */
    async restart(settings: NonNullable<Parameters<typeof startReference>[0]>["settings"]) {
      await api.close();
      api = await startReference({ settings });
    },
    /** Calls a cheap operation that has no input and needs a role. */
    listConfigs: (headers: Record<string, string> = {}, who?: Caller) =>
      api.call(who, "GET", CONFIGS, undefined, headers),
    /** Sets the organization's requests per minute. */
    setRateLimit: (organization: string, rate_limit: number) =>
      getStateRules(api, "organizations").patch(organization, { rate_limit }),
  };
}
