// The requests of each client: reads, creates, reads again. `send` resolves with JSON, or rejects.
export const base = process.env.UNDERSTUDY_BASE_URL;
export const headers = { "api-key": "ak_adaOwnerAcme000000000000000000000000000" };
export const webhook = { url: "http://127.0.0.1:9/hook", events: ["user.created"] };
/** Returns a random part of a pause that doubles. */
export const jittered = (retry) => 200 * 2 ** retry * (0.5 + Math.random());

export async function work(send) {
  const models = await send("GET", "/v1/models");
  if (!Array.isArray(models.models)) throw new Error("no list of models");
  await send("POST", "/webhooks", webhook);
  await send("GET", "/v1/models");
}
