import {
  type Context,
  computeSignature,
  getSentSignature,
  type Payload,
  type Steps,
} from "./flawed-receiver.ts";

export interface Flaw {
  name: string;
  /** Exactly the checks that must fail: no less, and no false alarm either. */
  fails: string[];
  /** Those that fail too where the next attempt comes before a busy machine is done with the one before. */
  mayFail?: string[];
  /** Leaves requests without an answer: a short limit for attempts saves time. */
  hangs?: boolean;
  steps: Partial<Steps>;
}

/** Verifies the signature over another text than the raw body. */
export const verifyOver = (rewrite: (body: Buffer) => string | Buffer): Partial<Steps> => ({
  isSigned({ body, secret, ...context }) {
    const rewritten = Buffer.from(rewrite(body) as string);
    return getSentSignature({ body, secret, ...context }) === computeSignature(secret, rewritten);
  },
});

/** Processes a delivery without looking whether it was processed before. */
export function processAgain({ memory }: Context, { delivery_id: id }: Payload): [number] {
  memory.processed.push(id);
  return [200];
}

/** Processes what is not known yet by this key. */
export function processOnceBy(keyOf: (payload: Payload) => string): Partial<Steps> {
  return {
    process(context, payload) {
      const key = keyOf(payload);
      if (context.memory.known.has(key)) return [200];
      context.memory.known.add(key);
      return processAgain(context, payload);
    },
  };
}
