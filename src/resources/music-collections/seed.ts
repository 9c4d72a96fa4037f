import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { firstOrganization, ownerOf } from "../organizations/of-fixture.ts";
import { type MusicCollection, musicCollections, type Track, tracks } from "./schema.ts";

const TrackEntry = Type.Object(
  { track_id: Type.Optional(Id("mtrack_")), added_at: Type.Optional(Timestamp()) },
  { additionalProperties: false },
);

const CollectionEntry = Type.Object(
  {
    id: Id("mcoll_"),
    name: Type.Optional(Type.String({ minLength: 1 })),
    organization_id: Type.Optional(Id("org_")),
    owner: Type.Optional(UserId()),
    tracks: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 2_000_000 }), Type.Array(TrackEntry)], {
        description: "In the order of their positions, or how many to make up",
      }),
    ),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);
type CollectionEntry = Static<typeof CollectionEntry>;

const DAY = 86_400_000;
const MOODS = ["Quiet", "Early", "Late", "Bright", "Slow", "Deep", "Rainy", "Open"];
const OCCASIONS = ["focus", "commute", "workshop", "evening", "studio", "retro", "Friday"];
const TRACKS_WHERE_NOT_SAID = 12;

export const musicCollectionsFixture: FixtureReader = {
  keys: {
    music_collections: Type.Array(CollectionEntry),
  },
  seed(fixture, base) {
    base.fill(musicCollections, () =>
      collectionEntries(fixture).map((entry) => complete(entry, { fixture, base })),
    );
    base.fill(tracks, () =>
      collectionEntries(fixture).flatMap((entry) =>
        tracksOf(entry, complete(entry, { fixture, base }), base),
      ),
    );
  },
};

function collectionEntries(fixture: FixtureData): readonly CollectionEntry[] {
  return (fixture["music_collections"] ?? []) as CollectionEntry[];
}

function complete(
  entry: CollectionEntry,
  { fixture, base }: { fixture: FixtureData; base: BaseBuilder },
): MusicCollection {
  const random = base.random("music_collections", entry.id);
  const organization_id = entry.organization_id ?? firstOrganization(fixture);
  return {
    id: entry.id,
    name: entry.name ?? inventName(random),
    organization_id,
    owner_id: entry.owner ?? ownerOf(fixture, organization_id),
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(30, 300) * DAY,
  };
}

export function inventName(random: Random): string {
  return `${random.pick(MOODS)} ${random.pick(OCCASIONS)}`;
}

/** Tracks come one after the other between the collection's creation and now. */
function tracksOf(
  { tracks: given }: CollectionEntry,
  { id, created_at }: MusicCollection,
  base: BaseBuilder,
): Track[] {
  const entries = Array.isArray(given) ? given : [];
  const count = Array.isArray(given) ? given.length : (given ?? TRACKS_WHERE_NOT_SAID);
  const random = base.random("tracks", id);
  const span = -created_at / (count + 1);
  const prefix = `mtrack_${id.slice("mcoll_".length)}_`;
  return Array.from({ length: count }, (_, position) => {
    const entry = entries[position];
    const drawn = Math.min(-1, Math.round(created_at + (position + random.float()) * span));
    return {
      track_id: entry?.track_id ?? prefix + String(position + 1).padStart(4, "0"),
      collection_id: id,
      position,
      added_at: entry?.added_at ? base.instant(entry.added_at) : drawn,
    };
  });
}
