import { randomBytes, timingSafeEqual } from "node:crypto";
import { parseJson, readBytes } from "../engine/pipeline/read-body.ts";
import { NodeRequest } from "../hosts/node/node-request.ts";
import type { Mount } from "./guard.ts";
import { Problem } from "./problem.ts";
import { sendAnswer } from "./send-answer.ts";

const CODE_BYTES = 24;
const MAX_BODY_BYTES = 1000;

/** A login to the console of a shared server (interfaces.md 7): a code that can be used once. */
export class Login {
  private code: string | undefined = randomBytes(CODE_BYTES).toString("base64url");
  private readonly token: string;

  constructor(token: string) {
    this.token = token;
  }

  /** The fragment of the console's address, which browsers do not send, so no log contains it. */
  get fragment(): string | undefined {
    return this.code && `#login=${this.code}`;
  }

  /** The control token for the code. @throws Problem 401 */
  redeem(code: unknown): string {
    const expected = Buffer.from(this.code ?? "");
    const sent = Buffer.from(typeof code === "string" ? code : "");
    if (expected.length === 0 || sent.length !== expected.length || !timingSafeEqual(sent, expected)) {
      throw new Problem("token-required", {
        detail:
          "This login link was used already, or belongs to an earlier start. Use the control token, which was printed beside it.",
      });
    }
    this.code = undefined;
    return this.token;
  }

  /** POST of `{code}` -> `{token}`. */
  readonly handle: Mount["handle"] = async (request, response) => {
    if (request.method !== "POST") {
      throw new Problem("method-not-allowed", { detail: "A login is a POST.", headers: { Allow: "POST" } });
    }
    const token = this.redeem(await readCode(new NodeRequest(request, response)));
    await sendAnswer(request, response, {
      status: 200,
      headers: {},
      content_type: "application/json",
      body: JSON.stringify({ token }),
    });
  };
}

async function readCode(request: NodeRequest): Promise<unknown> {
  const { value } = parseJson(request, await readBytes(request, MAX_BODY_BYTES));
  return (value as { code?: unknown } | null)?.code;
}
