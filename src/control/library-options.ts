import { type Static, Type } from "typebox";
import { isFolder } from "../documents/files.ts";
import { ClosedObject, MapOf } from "../engine/contract/schema.ts";
import type { Settings } from "../engine/contract/settings.ts";
import type { ClockSetting } from "../engine/sandbox/sandbox-value.ts";
import { checkInput, parseSettings } from "./check-input.ts";
import { ClockInput, toClockSetting } from "./clock-input.ts";
import { unprocessable } from "./problem.ts";

export const Seed = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Seeds ids, texts and all other random values",
});

const Texts = Type.Optional(Type.Array(Type.String()));
const Flag = Type.Optional(Type.Boolean());
const Limits = Type.Optional(MapOf(Type.Integer({ minimum: 0 })));
const Address = (example: string) =>
  Type.String({
    pattern: "^https?://[^/?#@]+(/[^?#]*)?(?<!/v\\d+/?)$",
    title: `an address such as ${example}, without credentials, version and query`,
  });

/** Checked where it is read. */
const Unchecked = Type.Optional(Type.Unknown());

/** The options of `createUnderstudy`, in the order in which messages list them. */
export const LibraryOptions = Type.Object({
  fixture: Unchecked,
  seed: Type.Optional(Seed),
  clock: Type.Optional(ClockInput),
  settings: Unchecked,
  operations: Unchecked,
  openapi: Unchecked,
  scenarios: Texts,
  scenariosFolder: Type.Optional(Type.String()),
  persist: Type.Optional(
    Type.Union([
      ClosedObject({ folder: Type.String(), durable: Flag }),
      ClosedObject({ file: Type.String() }),
    ]),
  ),
  shared: Type.Optional(ClosedObject({ token: Type.String(), limits: Limits, allowAddresses: Texts })),
  overrides: Flag,
  delay: Unchecked,
  certificate: Type.Optional(Type.Object({ cert: Type.String(), key: Type.String() })),
  publicUrl: Type.Optional(Address("https://sandbox.example.test")),
  trustProxy: Texts,
  upstream: Type.Optional(
    ClosedObject({
      url: Address("https://api.example.test"),
      headers: Type.Optional(Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }))),
      allowAddresses: Texts,
    }),
  ),
  allowHosts: Texts,
  refuseDefault: Flag,
  port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
});

/** The options that are converted; the others are used as they are. */
interface ConvertedOptions {
  clock: ClockSetting | undefined;
  settings: Partial<Settings>;
}

/** Checks options of the library as the control API checks its input, and converts some. @throws Problem 422 */
export function readLibraryOptions(options: object): ConvertedOptions {
  checkInput(LibraryOptions, options);
  const { clock, settings, publicUrl, upstream, scenariosFolder } = options as Static<typeof LibraryOptions>;
  if (scenariosFolder !== undefined && !isFolder(scenariosFolder))
    throw unprocessable("scenariosFolder", scenariosFolder, "must be an existing folder");
  for (const [field, url] of Object.entries({ publicUrl, "upstream.url": upstream?.url }))
    if (url !== undefined && !URL.canParse(url))
      throw unprocessable(field, url, "must be an address such as https://sandbox.example.test");
  return {
    clock: clock && toClockSetting(clock, "clock"),
    settings: parseSettings(settings ?? {}),
  };
}
