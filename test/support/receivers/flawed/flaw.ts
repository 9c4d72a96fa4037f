import {
  type Context,
  computeSignature,
  getSentSignature,
  type Payload,
  type Steps,
} from "./flawed-receiver.ts";

export interface Flaw {
  name: string;
  /** Exactly the checks that must fail. */
  fails: string[];
  /**
   * Checks that may also fail if the machine is busy and the next attempt comes before the receiver has handled the
   * one before.
   */
  mayFail?: string[];
  /** The receiver does not respond to some requests: the test uses a short timeout. */
  hangs?: boolean;
  steps: Partial<Steps>;
}

/** Verifies the signature of another text than the raw body. */
export const verifyOver = (rewrite: (body: Buffer) => string | Buffer): Partial<Steps> => ({
  isSigned({ body, secret, ...context }) {
    const rewritten = Buffer.from(rewrite(body) as string);
    return getSentSignature({ body, secret, ...context }) === computeSignature(secret, rewritten);
  },
});

/** Processes a delivery without checking whether it was processed before. */
export function processAgain({ memory }: Context, { delivery_id: id }: Payload): [number] {
  memory.processed.push(id);
  return [200];
}

/** Processes a delivery only if its key is new. */
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
