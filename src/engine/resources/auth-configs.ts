import { type Static, Type } from "typebox";
import { chooseCreation, type Factory } from "../contract/factory.ts";
import { createEntryFormat, readByOrganization, toFreeId } from "../contract/fixture-entry.ts";
import { operation } from "../contract/operation.ts";
import { publicView } from "../contract/public-view.ts";
import { belongsTo } from "../contract/references.ts";
import type { FixtureReader, Resource } from "../contract/resource.ts";
import { Id, Instant } from "../contract/schema.ts";
import { DAY_MS } from "../state/clock.ts";
import { collection } from "../state/collection.ts";
import {
  CURRENT_MEMBER_ERRORS,
  chooseOrganization,
  requireAdministrator,
  requireCurrentMember,
} from "./organizations/access.ts";
import { ByOrganization } from "./organizations/schema.ts";

/** An auth configuration (section 2.11). */
const AuthConfig = Type.Object({
  /** Any identifier, since section 2.1 gives auth configurations no prefix. */
  id: Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$", examples: ["authcfg_example"] }),
  toolkit: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
  organization_id: Id("org_", belongsTo("organizations")),
  created_at: Instant(),
});
type AuthConfig = Static<typeof AuthConfig>;

export const { schema: AuthConfigBody, render: renderAuthConfig } = publicView(AuthConfig, {
  $id: "AuthConfig",
  omit: ["organization_id"],
});

const authConfigs = collection({
  name: "auth_configs",
  prefix: "authcfg_",
  schema: AuthConfig,
  indexes: {
    by_organization: {
      groups: ({ organization_id }) => [organization_id],
      order: ({ created_at }) => -created_at,
    },
  },
});

const TOOLKITS = ["drive", "wiki", "mail", "calendar", "tickets", "chat", "crm"];
const TYPES = ["oauth2", "api_key", "basic"];

const makeAuthConfig: Factory<AuthConfig> = (fields, context) => {
  const { random } = context;
  const toolkit = fields.toolkit ?? random.pick(TOOLKITS);
  const type = random.pick(TYPES);
  return {
    id: fields.id ?? context.createNewestFirstId("authcfg_"),
    toolkit,
    type: fields.type ?? type,
    organization_id: chooseOrganization(context, fields.organization_id),
    created_at:
      fields.created_at ?? chooseCreation(context, () => random.int(1, 120) * DAY_MS + random.int(0, DAY_MS)),
  };
};

const entryFormat = createEntryFormat(AuthConfig, { omit: ["organization_id"] });

const authConfigsFixture: FixtureReader = {
  keys: {
    auth_configs: ByOrganization(
      Type.Union([Type.Integer({ minimum: 0, maximum: 10_000 }), Type.Array(entryFormat.schema)]),
      { description: "By organization: connector auth configurations, or how many to generate" },
    ),
  },
  addRecords(fixture, base) {
    base.fill(authConfigs, () => {
      const lists = readByOrganization(fixture, "auth_configs", entryFormat);
      const taken = new Set(lists.flatMap(({ entries }) => entries.map(({ id }) => id)));
      return lists.flatMap(({ organization_id, entries, count }) =>
        Array.from({ length: count }, (_, position) => {
          const context = base.createContext("auth_configs", organization_id, position);
          const fields = entryFormat.toFields(entries[position] ?? {}, base);
          const numberedId = `authcfg_${organization_id.slice("org_".length)}_${position + 1}`;
          const id = fields.id ?? toFreeId(numberedId, taken, context);
          // Consecutive records differ in their toolkit.
          const toolkit = TOOLKITS[position % TOOLKITS.length]!;
          return makeAuthConfig({ toolkit, ...fields, id, organization_id }, context);
        }),
      );
    });
  },
};

const listAuthConfigs = operation({
  id: "connectors.list_auth_configs",
  section: "4.10",
  assumptions: ["G02", "G28", "G37"],
  assumed: { envelope: "G02" },
  route: "GET /v1/admin/connector/auth-configs",
  summary: "List the auth configurations of connectors",
  description:
    "The configurations are those of the key's current organization, newest first. Only the organization's owners and admins may call this.",
  errors: ["INSUFFICIENT_PERMISSIONS", ...CURRENT_MEMBER_ERRORS],
  success: {
    status: 200,
    schema: Type.Object({ auth_configs: Type.Array(AuthConfigBody), total: Type.Integer({ minimum: 0 }) }),
  },
  access: (call) => requireAdministrator(call, requireCurrentMember(call)),
  handle({ principal, world }) {
    const configs = world.index(authConfigs, "by_organization", principal.organization_id);
    const auth_configs = [...configs].map((config) => renderAuthConfig(config, world));
    return { auth_configs, total: configs.size };
  },
});

export const authConfigsResource = {
  name: "auth_configs",
  collections: [authConfigs],
  operations: [listAuthConfigs],
  factories: { auth_configs: makeAuthConfig },
  fixture: authConfigsFixture,
} satisfies Resource;
