import type { Resource } from "../../contract/resource.ts";
import { makeMusicCollection, makeTrack, musicCollectionsFixture } from "./fixtures.ts";
import { listTracks } from "./operations.ts";
import { musicCollections, tracks } from "./schema.ts";
import { trackState } from "./state.ts";

export const musicCollectionsResource = {
  name: "music_collections",
  collections: [musicCollections, tracks],
  operations: [listTracks],
  factories: { music_collections: makeMusicCollection, tracks: makeTrack },
  fixture: musicCollectionsFixture,
  state: { tracks: trackState },
} satisfies Resource;
