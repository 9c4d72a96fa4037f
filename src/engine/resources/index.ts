import type { DeclaredApi } from "../contract/event.ts";
import type { Resource } from "../contract/resource.ts";
import { apiKeysResource } from "./api-keys/index.ts";
import { assistantsResource } from "./assistants/index.ts";
import { auditLogsResource } from "./audit-logs/index.ts";
import { authResource } from "./auth/index.ts";
import { authConfigsResource } from "./auth-configs/index.ts";
import { changeLogsResource } from "./change-logs/index.ts";
import { connectionsResource } from "./connections/index.ts";
import { connectorJobsResource } from "./connector-jobs/index.ts";
import { connectorNotificationsResource } from "./connector-notifications/index.ts";
import { dashboardsResource } from "./dashboards/index.ts";
import { departmentsResource } from "./departments/index.ts";
import { EVENTS } from "./events.ts";
import { filesResource } from "./files/index.ts";
import { imagesResource } from "./images/index.ts";
import { invoicesResource } from "./invoices/index.ts";
import { meetingSessionsResource } from "./meeting-sessions/index.ts";
import { modelResponsesResource } from "./model-responses/index.ts";
import { modelsResource } from "./models/index.ts";
import { musicCollectionsResource } from "./music-collections/index.ts";
import { organizationsResource } from "./organizations/index.ts";
import { threadsResource } from "./threads/index.ts";
import { transcriptionsResource } from "./transcriptions/index.ts";
import { usageResource } from "./usage/index.ts";
import { usersResource } from "./users/index.ts";
import { vectorStoresResource } from "./vector-stores/index.ts";
import { webhookTest } from "./webhooks/events.ts";
import { webhooksResource } from "./webhooks/index.ts";

/** The whole emulated API, one line per resource; order is the order of documents and lists. */
const ALL = [
  organizationsResource,
  usersResource,
  apiKeysResource,
  authResource,
  departmentsResource,
  auditLogsResource,
  authConfigsResource,
  musicCollectionsResource,
  threadsResource,
  assistantsResource,
  changeLogsResource,
  dashboardsResource,
  usageResource,
  modelsResource,
  modelResponsesResource,
  invoicesResource,
  meetingSessionsResource,
  transcriptionsResource,
  connectionsResource,
  connectorJobsResource,
  connectorNotificationsResource,
  webhooksResource,
  filesResource,
  vectorStoresResource,
  imagesResource,
] as const;
export const RESOURCES: readonly Resource[] = ALL;

/** Every collection of the world, those included that are the server's own. */
export type WorldCollection = (typeof ALL)[number]["collections"][number];

export const API: DeclaredApi = {
  operations: RESOURCES.flatMap(({ operations }) => operations),
  events: [...EVENTS, webhookTest],
};
