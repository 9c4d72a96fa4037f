import { type Api, createApi } from "../contract/api.ts";
import type { Resource } from "../contract/resource.ts";
import { apiKeysResource } from "./api-keys/rules.ts";
import { assistantsResource } from "./assistants/operations.ts";
import { auditLogsResource } from "./audit-logs/operations.ts";
import { authResource } from "./auth/operations.ts";
import { authConfigsResource } from "./auth-configs.ts";
import { changeLogsResource } from "./change-logs/operations.ts";
import { connectionsResource } from "./connections.ts";
import { connectorJobsResource } from "./connector-jobs/operations.ts";
import { connectorNotificationsResource } from "./connector-notifications/operations.ts";
import { dashboardsResource } from "./dashboards/operations.ts";
import { departmentsResource } from "./departments/operations.ts";
import { filesResource } from "./files/operations.ts";
import { imagesResource } from "./images/operations.ts";
import { invoicesResource } from "./invoices.ts";
import { meetingSessionsResource } from "./meeting-sessions/operations.ts";
import { modelResponsesResource } from "./model-responses/fixtures.ts";
import { modelsResource } from "./models/operations.ts";
import { musicCollectionsResource } from "./music-collections/operations.ts";
import { organizationsResource } from "./organizations/rules.ts";
import { threadsResource } from "./threads/operations.ts";
import { transcriptionsResource } from "./transcriptions/operations.ts";
import { usageResource } from "./usage/operations.ts";
import { usersResource } from "./users/operations.ts";
import { vectorStoresResource } from "./vector-stores/operations.ts";
import { webhooksResource } from "./webhooks/operations.ts";

/** The API of the reference, one line per resource; order is the order of documents and lists. */
export const RESOURCES: readonly Resource[] = [
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
];

export const API: Api = createApi(RESOURCES);
