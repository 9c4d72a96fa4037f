import type { Resource } from "../contract/resource.ts";
import { apiKeysResource } from "./api-keys/index.ts";
import { auditLogsResource } from "./audit-logs/index.ts";
import { authResource } from "./auth/index.ts";
import { authConfigsResource } from "./auth-configs/index.ts";
import { departmentsResource } from "./departments/index.ts";
import { musicCollectionsResource } from "./music-collections/index.ts";
import { organizationsResource } from "./organizations/index.ts";
import { usersResource } from "./users/index.ts";

/** The whole emulated API, one line per resource; order is the order of documents and lists. */
export const RESOURCES: readonly Resource[] = [
  organizationsResource,
  usersResource,
  apiKeysResource,
  authResource,
  departmentsResource,
  auditLogsResource,
  authConfigsResource,
  musicCollectionsResource,
];
