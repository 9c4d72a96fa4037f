import { expect, it } from "vitest";
import { answerForwarded } from "../../src/client/answer-forwarded.ts";
import { createChannel, receiveAnswer, toForwardedRequest } from "../../src/client/worker-messages.ts";

it("a page that leaves a stream whose next piece is ready causes no error in the service worker [interfaces 17]", async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array([1]));
      controller.enqueue(new Uint8Array([2]));
    },
  });
  const [ownPort, pagePort] = createChannel();
  const request = new Request("http://sandbox.example/v1/events");
  const answered = answerForwarded(
    { fetch: async () => new Response(body) },
    await toForwardedRequest(request),
    pagePort,
  );
  const { body: received } = await receiveAnswer(ownPort, request.signal);
  const reader = received!.getReader();
  expect(await reader.read()).toMatchObject({ value: new Uint8Array([1]) });
  const errors: unknown[] = [];
  const { onmessage } = ownPort;
  ownPort.onmessage =
    onmessage &&
    ((event) => {
      try {
        onmessage(event);
      } catch (error) {
        errors.push(error);
      }
    });
  await reader.cancel();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(errors).toEqual([]);
  (pagePort as unknown as { close(): void }).close();
  void answered;
});
