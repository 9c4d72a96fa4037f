import type { Check, Context } from "../check.ts";
import { excerpt, judgeSuccess, succeeded } from "../judge-answer.ts";
import { judgeRefusal } from "../judge-refusal.ts";
import { whatIsMissing } from "../known-objects.ts";
import type { Exchange } from "../target.ts";

const TEXT = "Uploaded by understudy verify.\n";
const FILE = { filename: "understudy-verify.txt", mime_type: "text/plain", file_size: TEXT.length };

function noted({ changes }: Context, done: string): void {
  changes.push({ done, undone: false, detail: "the API has no call that takes it back" });
}

const resumable: Check = {
  id: "files/resumable",
  family: "writes",
  section: "4.6",
  title: "a file is uploaded to its URL and registered",
  async run(context) {
    const { contract, target, known, verdict } = context;
    const organization_id = known.one("organization_id");
    if (organization_id === undefined)
      return verdict.notObservable(whatIsMissing(known, ["organization_id"]));
    const params = { organization_id };
    const begun = await target.send({
      operation: contract.operation("files.create_upload_url"),
      params,
      body: FILE,
    });
    if (!judgeSuccess(verdict, begun) || !succeeded(begun)) return;
    const { upload_url, gcs_path } = begun.json as { upload_url: string; gcs_path: string };
    const register = contract.operation("files.register");
    const body = { ...FILE, gcs_path };

    const early = await target.send({ operation: register, params, body });
    judgeRefusal(verdict, early, { code: "INVALID_INPUT", details: { field: "gcs_path" }, gap: "G13" });
    const put = await target.send({
      operation: contract.operation("uploads.put"),
      url: upload_url,
      body: new TextEncoder().encode(TEXT),
      headers: { "content-type": FILE.mime_type },
    });
    if (
      !verdict.expect(succeeded(put), `the upload URL answers ${put.status} to a PUT: ${excerpt(put.text)}`)
    )
      return;
    const registered = await target.send({ operation: register, params, body });
    if (!judgeSuccess(verdict, registered) || !succeeded(registered)) return;
    const file_id = registered.json.id as string;
    noted(context, `registered the file ${file_id} of ${FILE.file_size} bytes`);
    known.found({ scratch_file_id: file_id });
    const again = await target.send({ operation: register, params, body });
    verdict.expect(again.status === 200, `registering it again answers ${again.status}, not 200`, "G13");
    verdict.expect(again.json?.id === file_id, "registering it again makes another file", "G13");
  },
};

const simple: Check = {
  id: "files/simple",
  family: "writes",
  section: "G13",
  title: "a small file is uploaded in one request",
  async run(context) {
    const { contract, target, known, verdict } = context;
    const organization_id = known.one("organization_id");
    if (organization_id === undefined)
      return verdict.notObservable(whatIsMissing(known, ["organization_id"]));
    const body = new FormData();
    body.append("file", new File([TEXT], FILE.filename, { type: FILE.mime_type }));
    const exchange = await target.send({
      operation: contract.operation("files.upload"),
      params: { organization_id },
      body,
    });
    if (succeeded(exchange))
      noted(context, `uploaded the file ${exchange.json?.id} of ${FILE.file_size} bytes`);
    judgeSuccess(verdict, exchange);
  },
};

const attach: Check = {
  id: "store_files.attach/scratch",
  family: "writes",
  section: "G12",
  title: "a file is put into a store, once",
  async run(context) {
    const { contract, target, known, verdict } = context;
    const names = ["organization_id", "scratch_store_id", "scratch_file_id"];
    const [where] = known.bindings(names, 1);
    if (where === undefined) return verdict.notObservable(whatIsMissing(known, names));
    const store_id = where["scratch_store_id"]!;
    const file_id = where["scratch_file_id"]!;
    const params = { organization_id: where["organization_id"]!, store_id };
    const operation = contract.operation("store_files.attach");
    const first = await target.send({ operation, params, body: { file_id } });
    if (!judgeSuccess(verdict, first) || !succeeded(first)) return;
    noted(context, `put ${file_id} into ${store_id}`);
    verdict.expect(first.status === 202, `the first time it answers ${first.status}, not 202`, "G12");
    const again = await target.send({ operation, params, body: { file_id } });
    verdict.expect(again.status === 200, `the second time it answers ${again.status}, not 200`, "G12");
    const status = contract.operation("store_files.retrieve_status");
    judgeSuccess(verdict, await target.send({ operation: status, params: { ...params, file_id } }));
  },
};

export const fileChecks: readonly Check[] = [resumable, simple, attach];

/** G01: assumed as a whole; the tokens run out by themselves. */
const tokens: Check = {
  id: "auth/tokens",
  family: "writes",
  section: "G01",
  title: "a token is exchanged for the key, accepted, and refreshed once",
  async run({ contract, target, verdict, changes }) {
    const granted = await target.send({ operation: contract.operation("auth.create_token") });
    if (!judgeSuccess(verdict, granted) || !succeeded(granted)) return;
    changes.push({ done: "asked for session tokens", undone: true, detail: "they run out by themselves" });
    const { access_token, refresh_token } = granted.json;
    const models = contract.operation("models.list");
    const asToken = await target.send({
      operation: models,
      credential: { Authorization: `Bearer ${access_token}` },
    });
    verdict.expect(succeeded(asToken), `the token is answered with ${asToken.status}`, "G01");
    const refresh = () =>
      target.send({
        operation: contract.operation("auth.refresh_token"),
        body: { refresh_token },
        credential: "none",
      });
    judgeSuccess(verdict, await refresh());
    judgeRefusal(verdict, await refresh(), { code: "AUTHENTICATION_REQUIRED", gap: "G01" });
  },
};

const OVER_BUDGET = "a spending limit is exceeded";

/** G05: the budget of the key is used up, which says nothing of the operation. */
function overBudget({ verdict }: Context, exchange: Exchange): boolean {
  if (exchange.status !== 429) return false;
  judgeRefusal(verdict, exchange, { code: "SPENDING_LIMIT_EXCEEDED", gap: "G05" });
  verdict.notObservable(OVER_BUDGET);
  return true;
}

const response: Check = {
  id: "model_responses.create/short",
  family: "writes",
  section: "4.19",
  title: "model_responses.create answers a short question, in both forms of input",
  async run(context) {
    const { contract, target, known, verdict, changes } = context;
    // It costs money: a model that was merely listed is not enough.
    if (!known.isGiven("model")) return verdict.notObservable(whatIsMissing(known, ["model"]));
    const model = known.one("model")!;
    const operation = contract.operation("model_responses.create");
    const forms = [{ content: "Say yes." }, { texts: [{ text: "Say yes." }] }];
    for (const [i, form] of forms.entries()) {
      const exchange = await target.send({ operation, body: { model, inputs: [{ role: "user", ...form }] } });
      if (overBudget(context, exchange)) return;
      if (i === 0) judgeSuccess(verdict, exchange);
      else verdict.expect(succeeded(exchange), `the form with texts answers ${exchange.status}`);
      if (succeeded(exchange))
        changes.push({ done: `had ${model} answer`, undone: false, detail: "billed to the key" });
    }
  },
};

/** 16 x 16 pixels, so that extending it costs next to nothing. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAMAAAAoLQ9TAAAAA1BMVEUzZpk7I4HSAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADUlEQVQY02NgGAXIAAABEAAB7JfjegAAAABJRU5ErkJggg==";

const uncrop: Check = {
  id: "images.uncrop/small",
  family: "writes",
  section: "4.20",
  title: "images.uncrop extends a small image",
  async run(context) {
    const { contract, target, known, verdict, changes } = context;
    const names = ["provider", "organization_id"];
    const [where] = known.bindings(names, 1);
    if (where === undefined) return verdict.notObservable(whatIsMissing(known, names));
    const provider = where["provider"]!;
    const form = new FormData();
    const fields = { provider, organization_id: where["organization_id"]!, extend_left: "8", seed: "7" };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("image_file", new File([Buffer.from(PNG, "base64")], "verify.png", { type: "image/png" }));
    const exchange = await target.send({ operation: contract.operation("images.uncrop"), body: form });
    if (overBudget(context, exchange)) return;
    if (!judgeSuccess(verdict, exchange) || !succeeded(exchange)) return;
    changes.push({
      done: "had a small image extended",
      undone: false,
      detail: "billed to the key, if it is",
    });
    const { headers } = exchange;
    const type = headers.get("content-type");
    verdict.expect(type === "image/jpeg", `${provider} answers ${type}, not image/jpeg`);
    const credits = headers.has("x-provider-credits-consumed");
    verdict.expect(credits, "X-Provider-Credits-Consumed is missing");
  },
};

export const generationChecks: readonly Check[] = [tokens, response, uncrop];
