import Type from "typebox";
import { resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { Id, PageNumber } from "../../contract/schema.ts";
import { isMember } from "../organizations/access.ts";
import { musicCollections, presentTrack, TrackBody, tracks } from "./schema.ts";

export const listTracks = operation({
  id: "music_collections.list_tracks",
  section: "4.4",
  assumptions: ["G03", "G08", "G39"],
  method: "GET",
  path: "/v1/music/{organization_id}/collections/{collection_id}/tracks",
  summary: "List the tracks of a music collection",
  description: "By position. Callers see their own collections only.",
  params: Type.Object({ organization_id: Id("org_"), collection_id: Id("mcoll_") }),
  query: Type.Object({
    limit: Type.Optional(PageNumber({ minimum: 1, maximum: 500, default: 200 })),
    offset: Type.Optional(PageNumber({ minimum: 0, default: 0 })),
  }),
  errors: ["RESOURCE_NOT_FOUND"],
  success: {
    status: 200,
    schema: Type.Object({
      collection_id: Id("mcoll_"),
      items: Type.Array(TrackBody),
      limit: Type.Integer({ minimum: 1, maximum: 500 }),
      offset: Type.Integer({ minimum: 0 }),
    }),
  },
  access(call) {
    const { collection_id, organization_id } = call.params;
    const found = call.world.get(musicCollections, collection_id);
    const visible =
      found?.organization_id === organization_id &&
      found.owner_id === call.principal.user_id &&
      isMember(call, organization_id);
    // G03: every reason is this 404, an unknown or foreign organization too.
    if (!visible) throw resourceNotFound("collection_id", collection_id);
    return found;
  },
  handle({ query, world }, { id }) {
    const { limit, offset } = query as Required<typeof query>;
    const items = world
      .index(tracks, "by_collection", id)
      .page(offset, limit)
      .map((track) => presentTrack(track, world));
    return { collection_id: id, items, limit, offset };
  },
});
