import { expect, it } from "vitest";
import { makeClock } from "../state/clock.ts";
import { Tables } from "../state/tables.ts";
import { timers } from "../state/timers.ts";
import { World } from "../state/world.ts";
import { emails, listEmails, sendEmail } from "./outbox.ts";

function makeWorld(): World {
  return new World({
    root: { tables: Tables.empty([emails, timers]), draws: 0 },
    clock: makeClock("frozen", 5000, 0),
    ...{ origin: 0, seed: 1, secretKey: "test", wallClock: () => 0 },
    parts: { timerHandlers: {}, onEmit: () => {}, onCommit: () => {} },
  });
}

it("the outbox lists e-mails with their times, newest first, also those of one instant [G15]", async () => {
  const world = makeWorld();
  const send = (subject: string) =>
    world.transact((tx) => sendEmail(tx, { to: "ada@acme.test", subject, body: `${subject}!` }));
  for (const subject of ["first", "second"]) send(subject);
  await world.advance(6000);
  expect(send("third")).toMatchObject({ id: expect.stringMatching(/^email_/), subject: "third", at: 6000 });
  expect(listEmails(world.read()).map(({ subject }) => subject)).toEqual(["third", "second", "first"]);
  expect(listEmails(world.read())[0]).toEqual({
    ...{ id: expect.stringMatching(/^email_/), to: "ada@acme.test", subject: "third", body: "third!" },
    at: "1970-01-01T00:00:06.000Z",
  });
});

it("the outbox keeps the newest thousand [G15]", () => {
  const world = makeWorld();
  const subjects = Array.from({ length: 1003 }, (_, i) => `${i}`);
  const send = (subject: string) =>
    world.transact((tx) => sendEmail(tx, { to: "ada@acme.test", subject, body: "" }));
  for (const subject of subjects.slice(0, 1000)) send(subject);
  expect(listEmails(world.read())).toHaveLength(1000);
  for (const subject of subjects.slice(1000)) send(subject);
  expect(listEmails(world.read()).map(({ subject }) => subject)).toEqual(subjects.slice(3).reverse());
});
