import { toMediaType } from "../../../engine/contract/media-types.ts";
import type { Check, Context } from "../check.ts";
import { checkSuccess, hasSucceeded, toExcerpt } from "../check-answer.ts";
import { checkRefusal } from "../check-refusal.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";

const TEXT = "Uploaded by understudy verify.\n";
const FILE = { filename: "understudy-verify.txt", mime_type: "text/plain", file_size: TEXT.length };
const CANNOT_BE_UNDONE = "the API has no call that undoes it";
const BILLED = "billed to the key";

const resumable: Check = {
  id: "files/resumable",
  family: "writes",
  section: "4.6",
  title: "a file is uploaded to its URL and registered",
  async run(context) {
    const { known, verdict } = context;
    const params = context.requireIds("organization_id");
    const begun = await context.sendAndCheck("files.create_upload_url", { params, body: FILE });
    if (begun === undefined) return;
    const { upload_url, gcs_path } = begun.json as { upload_url: string; gcs_path: string };
    const body = { ...FILE, gcs_path };

    const prematureAnswer = await context.send("files.register", { params, body });
    checkRefusal(verdict, prematureAnswer, {
      code: "INVALID_INPUT",
      details: { field: "gcs_path" },
      assumption: "G13",
    });
    const uploadAnswer = await context.send("uploads.put", {
      url: upload_url,
      body: new TextEncoder().encode(TEXT),
      headers: { "content-type": FILE.mime_type },
    });
    const problem = `the upload URL answers ${uploadAnswer.status} to a PUT: ${toExcerpt(uploadAnswer.text)}`;
    if (!verdict.expect(hasSucceeded(uploadAnswer), problem)) return;
    const registered = await context.sendAndCheck("files.register", { params, body });
    if (registered === undefined) return;
    const file_id = registered.json.id as string;
    context.reportChange(`registered the file ${file_id} of ${FILE.file_size} bytes`, CANNOT_BE_UNDONE);
    known.addRelatedIds({ scratch_file_id: file_id });
    const secondAnswer = await context.send("files.register", { params, body });
    verdict.expect(
      secondAnswer.status === 200,
      `registering it again answers ${secondAnswer.status}, not 200`,
      "G13",
    );
    verdict.expect(secondAnswer.json?.id === file_id, "registering it again creates another file", "G13");
  },
};

const simple: Check = {
  id: "files/simple",
  family: "writes",
  section: "G13",
  title: "a small file is uploaded in one request",
  async run(context) {
    const params = context.requireIds("organization_id");
    const body = new FormData();
    body.append("file", new File([TEXT], FILE.filename, { type: FILE.mime_type }));
    const exchange = await context.send("files.upload", { params, body });
    if (hasSucceeded(exchange))
      context.reportChange(
        `uploaded the file ${exchange.json?.id} of ${FILE.file_size} bytes`,
        CANNOT_BE_UNDONE,
      );
    checkSuccess(context.verdict, exchange);
  },
};

const attach: Check = {
  id: "store_files.attach/scratch",
  family: "writes",
  section: "G12",
  title: "a file is put into a store, once",
  async run(context) {
    const { verdict } = context;
    const ids = context.requireIds("organization_id", "scratch_store_id", "scratch_file_id");
    const { organization_id, scratch_store_id: store_id, scratch_file_id: file_id } = ids;
    const params = { organization_id, store_id };
    const first = await context.sendAndCheck("store_files.attach", { params, body: { file_id } });
    if (first === undefined) return;
    context.reportChange(`put ${file_id} into ${store_id}`, CANNOT_BE_UNDONE);
    verdict.expect(first.status === 202, `the first time it answers ${first.status}, not 202`, "G12");
    const secondAnswer = await context.send("store_files.attach", { params, body: { file_id } });
    verdict.expect(
      secondAnswer.status === 200,
      `the second time it answers ${secondAnswer.status}, not 200`,
      "G12",
    );
    await context.sendAndCheck("store_files.retrieve_status", { params: { ...params, file_id } });
  },
};

/** The reference does not describe tokens, so all of this is assumed (G01). They expire, so nothing is undone. */
const tokens: Check = {
  id: "auth/tokens",
  family: "writes",
  section: "G01",
  title: "the key is exchanged for a token, which is accepted and refreshed once",
  async run(context) {
    const { verdict, changes } = context;
    const granted = await context.sendAndCheck("auth.create_token");
    if (granted === undefined) return;
    changes.push({ done: "requested access tokens", undone: true, detail: "they expire by themselves" });
    const { access_token, refresh_token } = granted.json;
    const credential = { Authorization: `Bearer ${access_token}` };
    const tokenAnswer = await context.send("models.list", { credential });
    verdict.expect(hasSucceeded(tokenAnswer), `the token is answered with ${tokenAnswer.status}`, "G01");
    const refresh = () => context.send("auth.refresh_token", { body: { refresh_token }, credential: "none" });
    checkSuccess(verdict, await refresh());
    checkRefusal(verdict, await refresh(), { code: "AUTHENTICATION_REQUIRED", assumption: "G01" });
  },
};

/** Whether the budget of the key is used up (G05), which proves nothing about the operation. */
function isOverBudget({ verdict }: Context, exchange: Exchange): boolean {
  if (exchange.status !== 429) return false;
  checkRefusal(verdict, exchange, { code: "SPENDING_LIMIT_EXCEEDED", assumption: "G05" });
  verdict.notObservable("a spending limit is exceeded");
  return true;
}

const response: Check = {
  id: "model_responses.create/short",
  family: "writes",
  section: "4.19",
  title: "model_responses.create answers a short question, in both forms of input",
  async run(context) {
    const { known, verdict } = context;
    // The request costs money, so the user must name the model.
    if (!known.isGiven("model")) return verdict.notObservable(known.describeMissing(["model"]));
    const model = known.findOne("model")!;
    const forms = [{ content: "Say yes." }, { texts: [{ text: "Say yes." }] }];
    for (const [i, form] of forms.entries()) {
      const body = { model, inputs: [{ role: "user", ...form }] };
      const exchange = await context.send("model_responses.create", { body });
      if (isOverBudget(context, exchange)) return;
      if (i === 0) checkSuccess(verdict, exchange);
      else verdict.expect(hasSucceeded(exchange), `the form with texts answers ${exchange.status}`);
      if (hasSucceeded(exchange)) context.reportChange(`asked ${model} a short question`, BILLED);
    }
  },
};

/** 16 x 16 pixels, so that extending it costs very little. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAMAAAAoLQ9TAAAAA1BMVEUzZpk7I4HSAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADUlEQVQY02NgGAXIAAABEAAB7JfjegAAAABJRU5ErkJggg==";

/** Checks that the body is of the content type. In its bytes, decoded as text, only the letters PNG of that format are left. */
function checkImage(verdict: Verdict, { headers, text }: Exchange): void {
  const type = toMediaType(headers.get("content-type") ?? "");
  const isPng = text.slice(1, 4) === "PNG";
  verdict.expect(isPng === (type === "image/png"), `${type} ${isPng ? "is" : "is not"} a PNG`);
}

const uncrop: Check = {
  id: "images.uncrop/small",
  family: "writes",
  section: "4.20",
  title: "images.uncrop extends a small image",
  observe: { operation: "images.uncrop", successes: true, begin: () => checkImage },
  async run(context) {
    const { verdict } = context;
    const ids = context.requireIds("provider", "organization_id");
    const form = new FormData();
    const fields = { ...ids, extend_left: "8", seed: "7" };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("image_file", new File([Buffer.from(PNG, "base64")], "verify.png", { type: "image/png" }));
    const exchange = await context.send("images.uncrop", { body: form });
    if (isOverBudget(context, exchange)) return;
    if (!checkSuccess(verdict, exchange)) return;
    context.reportChange("extended a small image", `may be ${BILLED}`);
    const type = toMediaType(exchange.headers.get("content-type") ?? "");
    verdict.expect(type === "image/jpeg", `${ids.provider} answers ${type}, not image/jpeg`);
    checkImage(verdict, exchange);
    const credits = exchange.headers.has("x-provider-credits-consumed");
    verdict.expect(credits, "X-Provider-Credits-Consumed is missing");
  },
};

export const fileChecks: readonly Check[] = [resumable, simple, attach, tokens, response, uncrop];
