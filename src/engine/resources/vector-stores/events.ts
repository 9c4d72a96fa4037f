import { event } from "../../contract/event.ts";
import { anyIn } from "../../contract/references.ts";
import { Id, Nullable } from "../../contract/schema.ts";
import { fileEvent } from "../files/events.ts";
import { makeFile } from "../files/fixtures.ts";
import { files } from "../files/schema.ts";
import { storeFiles, vectorStores } from "./schema.ts";

/** A file does not have its stores, so the emitter gives the store that the file was processed for. */
export const fileProcessed = event({
  ...fileEvent,
  name: "file.processed",
  assumptions: ["G11", "G25"],
  summary: "A file in a store was processed",
  about: {
    ...fileEvent.about,
    find(world, id) {
      const file = world.get(files, id);
      const [entry] = world.index(storeFiles, "by_file", id).page(0, 1);
      return file && { ...file, store_id: entry?.store_id ?? null };
    },
    fields: { ...fileEvent.about.fields, store_id: Nullable(Id("vs_")) },
    invent(given, context, organization_id) {
      const store = anyIn(context.world, vectorStores, organization_id);
      const file = makeFile(given, context);
      return { ...file, store_id: store?.id ?? context.newId("vs_") };
    },
  },
  data: [...fileEvent.data, "store_id"],
  implies: { status: "completed" },
});

export const VECTOR_STORE_EVENTS = [fileProcessed] as const;
