import manifest from "../../package.json" with { type: "json" };
import type { BrowserEngine } from "../browser.ts";
import { answerForwarded } from "./answer-forwarded.ts";
import { type ForwardedRequest, type Port, receiveAnswer, toForwardedRequest } from "./worker-messages.ts";

/**
 * A message between the tabs of a world. `part` carries one message of a forwarded request's port, such as a piece of the
 * answer; `to` names the port that receives it.
 */
type Message =
  | { type: "who" }
  | { type: "leads"; version: string; tab: string }
  | { type: "forwarded"; id: string; request: ForwardedRequest }
  | { type: "part"; to: string; data: unknown };

/** The parts of the browser's BroadcastChannel that are used; Node's types describe Node's own. */
interface Channel {
  onmessage: (event: { data: Message }) => void;
  postMessage(message: Message): void;
  close(): void;
}

interface Locks {
  request(name: string, options: { signal: AbortSignal }, work: () => Promise<unknown>): Promise<unknown>;
}

const findLocks = () => (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;

/**
 * The engine of a stored world, which runs in one tab, the leader: the tab that has the lock. Other tabs forward their requests
 * to it, and one of them leads when it is closed.
 * @param open `isStored` is false for a page that has no locks, where no world is stored
 * @throws Error if the leader has another version; the errors of `open`
 */
export async function shareWorld(
  name: string,
  open: (options: { isStored: boolean }) => Promise<BrowserEngine>,
): Promise<BrowserEngine> {
  const locks = findLocks();
  if (locks === undefined) {
    console.warn(
      `The world "${name}" lasts until the page is left: only pages of https:// and localhost can store one.`,
    );
    return open({ isStored: false });
  }
  const tabs = new Tabs(`understudy:${name}`);
  const abort = new AbortController();
  let release = () => {};
  const granted = new Promise<undefined>((resolve) => {
    const hold = () =>
      new Promise<void>((done) => {
        release = done;
        resolve(undefined);
      });
    // A browser that refuses locks stores nothing either: this tab tries to open the world, which reports that.
    locks.request(tabs.name, { signal: abort.signal }, hold).catch(() => resolve(undefined));
  });
  const leave = () => {
    abort.abort();
    release();
    tabs.close();
  };
  const lead = async () => {
    const engine = await open({ isStored: true });
    tabs.lead(engine);
    return engine;
  };
  try {
    // Undefined if this tab has got the lock, and so leads.
    const leaderVersion = await Promise.race([granted, tabs.findLeader()]);
    if (leaderVersion !== undefined && leaderVersion !== manifest.version)
      throw new Error(
        `The world "${name}" is open in a tab with version ${leaderVersion} of Understudy, this page has ${manifest.version}: reload that tab, or close it.`,
      );
    let engine = leaderVersion === undefined ? await lead() : tabs.createFollower();
    let takeover: Promise<unknown> | undefined;
    if (leaderVersion !== undefined)
      void granted.then(() => {
        if (abort.signal.aborted) return;
        takeover = lead().then((leading) => {
          engine = leading;
        });
      });
    const fetch: BrowserEngine["fetch"] = async (request) => {
      await takeover;
      return engine.fetch(request);
    };
    return {
      fetch,
      listValidKeys: engine.listValidKeys,
      save: () => engine.save(),
      async close() {
        await takeover?.catch(() => {});
        await engine.close();
        leave();
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** The tabs of one origin that have the same world. */
class Tabs {
  readonly name: string;
  private readonly channel: Channel;
  /** This tab's ends of forwarded requests, by name: `ID:page` here, `ID:leader` in the leader. */
  private readonly ports = new Map<string, Port>();
  private engine: BrowserEngine | undefined;
  private readonly id = crypto.randomUUID();
  private leader: string | undefined;
  private readonly leaderFound: Promise<string>;
  private resolveLeader = (_version: string) => {};

  constructor(name: string) {
    this.name = name;
    this.leaderFound = new Promise((resolve) => {
      this.resolveLeader = resolve;
    });
    this.channel = new BroadcastChannel(name) as unknown as Channel;
    this.channel.onmessage = ({ data }) => this.onMessage(data);
  }

  /** Resolves with the version of the leading tab. */
  findLeader(): Promise<string> {
    this.post({ type: "who" });
    return this.leaderFound;
  }

  /** Answers the other tabs. */
  lead(engine: BrowserEngine): void {
    this.engine = engine;
    this.follow(this.id);
    this.announce();
  }

  private announce(): void {
    this.post({ type: "leads", version: manifest.version, tab: this.id });
  }

  /** Requests that were forwarded to a former leader are lost. */
  private follow(leader: string): void {
    if (leader === this.leader) return;
    this.leader = leader;
    for (const port of this.ports.values())
      port.onmessage?.({ data: { type: "broken" } as never, ports: [] });
    this.ports.clear();
  }

  createFollower(): BrowserEngine {
    return {
      fetch: async (request) => {
        const id = crypto.randomUUID();
        const answer = receiveAnswer(this.openPort(`${id}:page`, `${id}:leader`), request.signal);
        this.post({ type: "forwarded", id, request: await toForwardedRequest(request) });
        const response = await answer;
        if (response.type === "error") throw new TypeError("fetch failed");
        return response;
      },
      save: async () => {},
      close: async () => {},
    };
  }

  close(): void {
    this.channel.close();
  }

  private onMessage(message: Message): void {
    if (message.type === "leads") {
      this.follow(message.tab);
      this.resolveLeader(message.version);
    } else if (message.type === "part") {
      const { to, data } = message;
      this.ports.get(to)?.onmessage?.({ data: data as never, ports: [] });
      if (/^(whole|end|broken)$/.test((data as { type: string }).type)) this.ports.delete(to);
    } else if (this.engine === undefined) return;
    else if (message.type === "who") this.announce();
    else {
      const { id, request } = message;
      const port = this.openPort(`${id}:leader`, `${id}:page`);
      void answerForwarded(this.engine, request, port).finally(() => this.ports.delete(`${id}:leader`));
    }
  }

  private post(message: Message): void {
    this.channel.postMessage(message);
  }

  private openPort(from: string, to: string): Port {
    const port: Port = { onmessage: null, postMessage: (data) => this.post({ type: "part", to, data }) };
    this.ports.set(from, port);
    return port;
  }
}
