import type { Check, Context } from "../../check.ts";
import { excerpt } from "../../judge-body.ts";
import { judgeRefusal } from "../../judge-refusal.ts";
import { judgeSuccess, succeeded } from "../../judge-success.ts";
import { whatIsMissing } from "../../parameters.ts";

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
