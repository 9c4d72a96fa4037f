import { seenIn } from "../check.ts";
import { excerpt } from "../judge-body.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";
import type { Recorded } from "./every-operation.ts";

type Judge = (verdict: Verdict, exchange: Exchange) => void;

function check(operation: string, section: string, judge: Judge): Recorded {
  return {
    id: `${operation}/asked-for`,
    family: "answers",
    section,
    title: `${operation} answers about what it was asked for`,
    observe: seenIn(operation, judge),
  };
}

/** That a field of the answer repeats what the request says. */
function repeats(verdict: Verdict, name: string, { is, sent }: { is: unknown; sent: unknown }): void {
  verdict.expect(is === sent, `${name} is ${excerpt(is)} instead of ${excerpt(sent)}`);
}

function bodyOf({ asked }: Exchange): Record<string, unknown> {
  return (asked.body ?? {}) as Record<string, unknown>;
}

/** What a recorded change answers must be the change that was asked for; a live run makes its own. */
export const askedFor: readonly Recorded[] = [
  check("departments.reparent", "4.3", (verdict, exchange) => {
    const { id, parent_id, path, depth } = exchange.json;
    repeats(verdict, "id", { is: id, sent: exchange.asked.params["department_id"] });
    repeats(verdict, "parent_id", { is: parent_id, sent: bodyOf(exchange)["new_parent_id"] });
    const chain = String(path).split("/");
    verdict.expect(chain.at(-1) === id, `path ${excerpt(path)} does not end with ${id}`);
    verdict.expect(
      (chain.at(-2) ?? null) === parent_id,
      `path ${excerpt(path)} does not lead through ${parent_id}`,
    );
    verdict.expect(depth === chain.length - 1, `depth is ${depth}, and the path ${excerpt(path)}`, "G10");
  }),
  check("users.set_current_organization", "4.5", (verdict, exchange) => {
    const { success, current_organization_id, organization } = exchange.json;
    const sent = bodyOf(exchange)["organization_id"];
    verdict.expect(success === true, `success is ${success}`);
    repeats(verdict, "current_organization_id", { is: current_organization_id, sent });
    repeats(verdict, "organization.id", { is: organization.id, sent });
  }),
  check("threads.delete", "4.7", (verdict, { json, asked }) => {
    verdict.expect(json.success === true, `success is ${json.success}`);
    repeats(verdict, "threadId", { is: json.threadId, sent: asked.params["thread_id"] });
  }),
  check("music_collections.list_tracks", "4.4", (verdict, { json, asked }) =>
    repeats(verdict, "collection_id", { is: json.collection_id, sent: asked.params["collection_id"] }),
  ),
  check("transcriptions.list_sentences", "4.11", (verdict, { json, asked }) =>
    repeats(verdict, "data.transcription_id", {
      is: json.data.transcription_id,
      sent: asked.params["transcription_id"],
    }),
  ),
];
