/** The data of server-sent events as they come, parsed as JSON; ends with the stream. */
export async function* eventData<T>(body: ReadableStream<Uint8Array>): AsyncIterableIterator<T> {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (data !== undefined) yield JSON.parse(data) as T;
    }
  }
}
