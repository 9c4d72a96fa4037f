import { connect } from "node:net";

export interface RawAnswer {
  status: number;
  /** Header names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** Sends exactly these bytes. Reads until the server closes, or until the first chunk of a stream. */
export function sendRawRequest(port: number, head: readonly string[], body = ""): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const settle = () => {
      socket.destroy();
      resolve(parse(text));
    };
    socket.setTimeout(60_000, () => reject(new Error(`no answer to ${head[0]}: ${text}`)));
    socket.on("connect", () => socket.write(Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`, "latin1")));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (/^content-type: text\/event-stream/im.test(text) && text.includes("\r\n\r\n")) settle();
    });
    socket.on("end", settle);
    socket.on("error", reject);
  });
}

function parse(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [line = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((header) => {
      const colon = header.indexOf(":");
      return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(line.split(" ")[1]), headers, body: text.slice(end + 4) };
}
