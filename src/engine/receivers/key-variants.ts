const PREFIX = "whsec_";

export interface KeyVariant {
  label: string;
  key: string | Uint8Array;
}

/**
 * Keys that somebody holds in place of the secret: what commonly becomes of it on its way into a receiver and,
 * since the secret given here may be the damaged one, what it may have been before.
 */
export function keyVariants(secret: string): KeyVariant[] {
  const pairs = [...additions(secret), ...restorations(secret), ...readings(secret)];
  return pairs.filter(([, key]) => key !== secret).map(([label, key]) => ({ label, key }));
}

type Pair = [label: string, key: string | Uint8Array];

/** Files, shells and templates add to a secret. */
function additions(secret: string): Pair[] {
  return [
    ["an empty secret", ""],
    ["the secret and a line break after it", `${secret}\n`],
    ["the secret and a carriage return and line break after it", `${secret}\r\n`],
    ["the secret and a space after it", `${secret} `],
    ["the secret in quotation marks", `"${secret}"`],
    ["the secret in apostrophes", `'${secret}'`],
    ['the text "undefined", as when the secret was not set', "undefined"],
    ['the text "null", as when the secret was not set', "null"],
    ['the text "None", as when the secret was not set', "None"],
  ];
}

/** Libraries of other services strip, decode or encode theirs. */
function readings(secret: string): Pair[] {
  const found: Pair[] = [
    ["the secret in lower case", secret.toLowerCase()],
    ["the secret in upper case", secret.toUpperCase()],
    ["the secret encoded in base64", Buffer.from(secret).toString("base64")],
    ["the secret and a line break, encoded in base64", Buffer.from(`${secret}\n`).toString("base64")],
    ["the secret as a whole, decoded from base64", Buffer.from(secret, "base64")],
  ];
  if (!secret.startsWith(PREFIX)) return found;
  const bare = secret.slice(PREFIX.length);
  const stripped = bare.startsWith(PREFIX)
    ? "the secret with its whsec_ prefix once (it was given with it twice)"
    : "the secret without its whsec_ prefix";
  found.push(
    [stripped, bare],
    ["the secret with its whsec_ prefix twice", PREFIX + secret],
    ["the secret without its whsec_ prefix, and a line break after it", `${bare}\n`],
    ["the secret's part after whsec_, decoded from base64", Buffer.from(bare, "base64")],
  );
  if (/^([0-9a-f]{2})+$/i.test(bare)) {
    found.push(["the secret's part after whsec_, decoded from hex", Buffer.from(bare, "hex")]);
  }
  return found;
}

/** The other way round: what was given here is not quite the secret. */
function restorations(secret: string): Pair[] {
  const trimmed = secret.trim();
  const unquoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2];
  const found: Pair[] = [
    ["the secret without the spaces or line ends around it (it was given with them)", trimmed],
  ];
  if (unquoted !== undefined) found.push(["the secret without its quotation marks", unquoted]);
  const decoded = Buffer.from(trimmed, "base64").toString("utf8").trim();
  if (decoded.startsWith(PREFIX)) {
    found.push(["the secret decoded from base64 (it was given encoded)", decoded]);
  }
  if (!trimmed.startsWith(PREFIX)) {
    const encoded = Buffer.from(secret).toString("base64");
    found.push(
      ["the secret with whsec_ before it (it was given without)", PREFIX + trimmed],
      ["the secret encoded in base64, with whsec_ before it (it was given decoded)", PREFIX + encoded],
      [
        "the secret encoded in base64 without padding, with whsec_ before it (it was given decoded)",
        PREFIX + encoded.replace(/=+$/, ""),
      ],
    );
  }
  return found;
}
