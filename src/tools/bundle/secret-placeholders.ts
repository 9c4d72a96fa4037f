import { toHex } from "../../engine/bytes.ts";
import {
  API_KEY,
  findLongTokens,
  isSecretName,
  replaceInNamedLists,
  replaceLongTokens,
  SECRET_HEADER,
  SECRET_NAMES,
  SECRET_PART,
  USER_INFO,
  WEBHOOK_SECRET,
} from "../../engine/contract/secret-names.ts";
import { digest } from "../../engine/platform.ts";

/** Delimits a placeholder in a bundle's texts; the bracket itself is escaped. */
const OPEN = "⟦";
const CLOSE = "⟧";
const PLACEHOLDER = /⟦([a-z_]+):?([^⟧]*)⟧/g;

/** Forms of secrets that users choose themselves, and the letter for each in placeholders. */
const USER_SECRETS = [
  ["k", API_KEY],
  ["w", WEBHOOK_SECRET],
] as const;
const JWT = /\beyJ[\w-]{4,}\.[\w-]+\.[\w-]+/g;
/** A text under the name of a secret, even if the body ends within it. */
const NAMED_SECRET = new RegExp(`"${SECRET_NAMES}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)+)(?="|\\\\?$)`, "gi");
/** A parameter of a query or of a form, up to its end (`&`, a space, or the text's end). One with a placeholder does not fit. */
const PARAMETER = /(^|[?&])([^=&?\s]{1,240})=([^&⟦\s]+)(?![^&\s])/g;
const URL_TEXT = /https?:\/\/[^\s"\\]+/g;
/** All generated secrets consist of these characters; `replaceKnown` finds no others. */
const WORD = /[\w.~-]{8,}/g;

/**
 * Replaces the secrets in a bundle by placeholders (interfaces.md 4): `api_key:ID` for API keys with an id,
 * `answer:N.I:LENGTH` for the secret number I of answer N (tokens, upload URLs, webhook secrets), `given:k0:LENGTH` for one
 * that the user (`k`, `w`) or the server (`t`) chose, and `unknown:LENGTH` for one that is not registered.
 */
export class SecretPlaceholders {
  private readonly namesBySecret = new Map<string, string>();
  private readonly secretsByName = new Map<string, string>();
  private readonly issuedCounts = new Map<number, number>();
  private readonly writtenSecrets = new Set<string>();

  register(secret: string, name: string): void {
    if (this.namesBySecret.has(secret)) return;
    this.namesBySecret.set(secret, name);
    this.secretsByName.set(name, secret);
  }

  find(name: string): string | undefined {
    return this.secretsByName.get(name);
  }

  /** Whether the text is the id, not the secret, of a registered API key. Rules name a key by its id in `api_key`, which stays. */
  private isKeyId(text: string): boolean {
    return this.secretsByName.has(`api_key:${text}`);
  }

  /** Registers the secrets of an answer, which later requests may contain. */
  registerIssued(answer: number, text: string): void {
    for (const secret of findSecrets(text)) {
      if (this.namesBySecret.has(secret) || this.isKeyId(secret)) continue;
      const count = this.issuedCounts.get(answer) ?? 0;
      this.issuedCounts.set(answer, count + 1);
      this.register(secret, `answer:${answer}.${count}:${secret.length}`);
    }
  }

  /**
   * Registers keys and webhook secrets that the user wrote. They are numbered separately, since a replay registers only these
   * again, and must give them the same names.
   */
  registerWritten(text: string): void {
    for (const [letter, pattern] of USER_SECRETS) {
      for (const [secret] of text.matchAll(pattern)) {
        this.register(secret, `given:${letter}${this.writtenSecrets.size}:${secret.length}`);
        this.writtenSecrets.add(secret);
      }
    }
  }

  /** Registers the secrets in a text by their form and their name, except short ones and those without a digit: they may be words. */
  registerIn(text: string): void {
    this.registerWritten(text);
    for (const secret of findSecrets(text))
      if (secret.length >= 16 && /\d/.test(secret) && !this.isKeyId(secret)) this.registerGiven(secret);
  }

  registerGiven(secret: string): void {
    this.register(secret, `given:t${this.namesBySecret.size}:${secret.length}`);
  }

  replaceKnown(text: string): string {
    return text.replaceAll(OPEN, `${OPEN}open${CLOSE}`).replace(WORD, (word) => {
      // Punctuation may follow a secret.
      const trimmed = word.replace(/[.~-]+$/, "");
      const name = this.namesBySecret.get(word) ?? this.namesBySecret.get(trimmed);
      if (name === undefined) return word;
      return `${OPEN}${name}${CLOSE}${this.namesBySecret.has(word) ? "" : word.slice(trimmed.length)}`;
    });
  }

  /** Redacts a text of a client or user: what only looks like a secret is replaced too. */
  redact(text: string): string {
    return replaceInNamedLists(this.replaceKnown(text), (inner) =>
      inner.includes(OPEN) ? inner : maskUnknown(inner),
    )
      .replace(API_KEY, (_, secret: string) => `ak_${maskUnknown(secret)}`)
      .replace(WEBHOOK_SECRET, (_, secret: string) => `whsec_${maskUnknown(secret)}`)
      .replace(JWT, maskUnknown)
      .replace(NAMED_SECRET, (pair, secret: string) =>
        secret.includes(OPEN) || this.isKeyId(secret)
          ? pair
          : pair.slice(0, -secret.length) + maskUnknown(secret),
      )
      .replace(SECRET_PART, (pair, before: string, secret: string) =>
        secret === "" || secret.includes(OPEN) ? pair : before + maskUnknown(secret),
      )
      .replace(USER_INFO, (pair, before: string) =>
        pair.includes(OPEN) ? pair : before + maskUnknown(pair.slice(before.length)),
      )
      .replace(URL_TEXT, maskParameters);
  }

  /** Redacts a text of the server: known secrets, and secret parameters in URLs, which the client may have chosen. */
  redactAnswer(text: string): string {
    return this.replaceKnown(text).replace(URL_TEXT, maskParameters);
  }

  redactForm(form: string): string {
    return maskParameters(this.redact(form));
  }

  redactTarget(target: string): string {
    return replaceLongTokens(this.redactForm(target), maskUnknown);
  }

  redactHeader(name: string, value: string): string {
    if (!SECRET_HEADER.test(name)) return this.redact(value);
    const replaced = this.replaceKnown(value);
    const [, kept = "", rest = ""] = /^((?:(?:Bearer|Basic|Digest) +)?(?:ak_)?)(.*)$/is.exec(replaced)!;
    return rest.startsWith(OPEN) && rest.endsWith(CLOSE) ? replaced : kept + maskUnknown(rest);
  }
}

/** Redacts the parameters of a query or a form whose name says that they are secret. */
function maskParameters(text: string): string {
  return text.replace(PARAMETER, (pair, before: string, name: string, value: string) =>
    isSecretName(name) ? `${before}${name}=${maskUnknown(value)}` : pair,
  );
}

/** The secrets in a text, in its order. */
function findSecrets(text: string): string[] {
  const matches: { at: number; secret: string }[] = [];
  for (const pattern of [API_KEY, WEBHOOK_SECRET, JWT]) {
    for (const match of text.matchAll(pattern)) matches.push({ at: match.index, secret: match[0] });
  }
  for (const match of text.matchAll(NAMED_SECRET)) {
    const secret = match[1]!;
    matches.push({ at: match.index + match[0].length - secret.length, secret });
  }
  for (const url of text.matchAll(URL_TEXT)) {
    for (const { token, index } of findLongTokens(url[0]))
      matches.push({ at: url.index + index, secret: token });
  }
  // The longest comes first if several begin at the same place.
  matches.sort((a, b) => a.at - b.at || b.secret.length - a.secret.length);
  return [...new Set(matches.map(({ secret }) => secret))];
}

export function resolvePlaceholders(text: string, getValue: (kind: string, name: string) => string): string {
  if (!text.includes(OPEN)) return text;
  return text.replace(PLACEHOLDER, (_, kind: string, name: string) =>
    kind === "open" ? OPEN : getValue(kind, name),
  );
}

/** A text in place of an unknown secret: always the same for a name, of the secret's length. */
export function inventSecret(name: string, length: number): string {
  const block = toHex(digest("sha256", name));
  return block.repeat(Math.ceil(length / block.length)).slice(0, length);
}

function maskUnknown(secret: string): string {
  return `${OPEN}unknown:${secret.length}${CLOSE}`;
}
