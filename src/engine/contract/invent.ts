import type { Faker } from "@faker-js/faker";
import { getOrAdd } from "../maps.ts";
import { platform } from "../platform.ts";
import { Random } from "../state/random.ts";
import type { FactoryContext } from "./factory.ts";
import { capitalize } from "./text.ts";

/**
 * The context for inventing the values that a fixture or a state call leaves out (G44). Each value takes one draw
 * of the record's own random generator, which seeds faker: the same seed gives the same value. Nothing here reads the
 * machine's clock; a value with a date must get the sandbox's time as `refDate`.
 */
type InventContext = Pick<FactoryContext, "random" | "settings">;

/** All invented addresses are in a domain without a mail server (RFC 2606). */
const MAIL_DOMAIN = "example.test";
const MAX_LOCAL_PART = 64;

/** Latin letters that Unicode does not decompose into a letter from a to z and its marks, each with its spelling. */
const LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  "ß ss,æ ae,œ oe,ø o,đ d,ð d,ɖ d,ɗ d,ł l,þ th,ħ h,ı i,ĸ k,ƙ k,ŋ ng,ŧ t,ə e,ɛ e,ɔ o,ɓ b,ǥ g,ƴ y,ƒ f"
    .split(",")
    .map((pair) => pair.split(" ")),
);

/** Replaces special Latin letters, and splits others from their marks. Marks and other scripts stay in the text. */
function decomposeLatin(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/[^\0-\x7f]/g, (letter) => LETTERS[letter.toLowerCase()] ?? letter);
}

export function inventName(context: InventContext): string {
  return getSeededFaker(context).person.fullName();
}

/** A valid address for a name in any script; derived from the id if the name has no letters. */
export function inventEmail(name: string, id: string, context: InventContext): string {
  // Titles such as "Dr." and "Jr." are no part of an address.
  const words = decomposeLatin(name)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word) && !word.endsWith("."));
  const [firstName = id, ...others] = words;
  const names = { firstName, lastName: others.at(-1) ?? "" };
  const local = getSeededFaker(context).internet.username(names).toLowerCase();
  return `${local
    .replaceAll(/[^a-z0-9]+/g, ".")
    .slice(0, MAX_LOCAL_PART)
    .replaceAll(/^\.|\.$/g, "")}@${MAIL_DOMAIN}`;
}

/** The same address with a number, if another user has it. */
export function makeDistinctEmail(email: string, isTaken: (email: string) => boolean): string {
  const [local = "", domain] = email.split("@");
  for (let number = 2, candidate = email; ; number++) {
    if (!isTaken(candidate)) return candidate;
    candidate = `${local.slice(0, MAX_LOCAL_PART - 8)}.${number}@${domain}`;
  }
}

export function inventCompany(context: InventContext): string {
  return getSeededFaker(context).company.name();
}

/** A field of work, for the name of a department or connection: "Marketing". */
export function inventTeam(context: InventContext): string {
  return getSeededFaker(context).person.jobArea();
}

/** The name of an assistant or a role: "Marketing Analyst". */
export function inventJob(context: InventContext): string {
  const { person } = getSeededFaker(context);
  return `${person.jobArea()} ${person.jobType()}`;
}

/** A title of a few words: "Embrace cross-platform markets". */
export function inventTitle(context: InventContext): string {
  return capitalize(getSeededFaker(context).company.buzzPhrase());
}

/** A file's name with this extension, such as ".pdf"; letters, digits and hyphens in every locale. */
export function inventFilename(extension: string, context: InventContext): string {
  const { company } = getSeededFaker(context);
  const words = decomposeLatin(`${company.buzzAdjective()} ${company.buzzNoun()}`).toLowerCase();
  const slug = words.replaceAll(/\p{M}/gu, "").replaceAll(/[^a-z0-9]+/g, "-");
  return `${slug.replaceAll(/^-|-$/g, "") || "document"}${extension}`;
}

/** One faker for each requested locale; all draw from `source`, which each use replaces. */
const fakers = new Map<string, Faker>();
let source = new Random(0);

function getSeededFaker({ random, settings: { locale } }: InventContext): Faker {
  const faker = getOrAdd(fakers, locale, () => {
    const loaded = platform().loadFaker(locale);
    const Constructor = loaded.constructor as new (options: ConstructorParameters<typeof Faker>[0]) => Faker;
    // Seeding faker's own generator takes 20 times as long as a value does.
    const randomizer = { next: () => source.float(), seed() {} };
    return new Constructor({ locale: loaded.rawDefinitions, randomizer });
  });
  source = new Random(random.uint32());
  return faker;
}
