import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { CATALOGUE } from "../../engine/contract/errors.ts";
import type { UnderstudyClient } from "../connect.ts";

const JSON_TYPE = "application/json";

/** interfaces 13: what a model may read up before it calls anything. */
export function addResources(server: McpServer, { http }: UnderstudyClient): void {
  const document = (name: string, { path, title }: { path: string; title: string }) =>
    server.registerResource(name, `understudy://${name}`, { title, mimeType: JSON_TYPE }, async (uri) => ({
      contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: await http.text(path) }],
    }));
  document("openapi.json", { path: "/_control/openapi.json", title: "The emulated API, OpenAPI 3.1" });
  document("control-api.json", { path: "/_control/api.json", title: "The control API, OpenAPI 3.1" });
  document("fidelity", {
    path: "/_control/fidelity",
    title: "The fidelity ledger: what is assumed, and why",
  });
  server.registerResource(
    "errors",
    "understudy://errors",
    { title: "The error catalogue", mimeType: JSON_TYPE },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: JSON.stringify(CATALOGUE) }] }),
  );
  const below = (name: string, { template, title }: { template: string; title: string }) =>
    server.registerResource(
      name,
      new ResourceTemplate(`understudy://sandboxes/${template}`, { list: undefined }),
      { title, mimeType: JSON_TYPE },
      async (uri) => ({
        contents: [
          { uri: uri.href, mimeType: JSON_TYPE, text: await http.text(`/_control/sandboxes${toPath(uri)}`) },
        ],
      }),
    );
  below("journal-entry", {
    template: "{sandbox}/journal/{id}",
    title: "A request of a sandbox's journal, whole",
  });
  below("state", { template: "{sandbox}/state/{collection}", title: "The records of a collection" });
}

/** The part of `understudy://sandboxes/default/journal/req_1` after the host. */
function toPath({ pathname }: URL): string {
  return pathname;
}
