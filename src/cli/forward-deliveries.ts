import { setTimeout as sleep } from "node:timers/promises";
import { ControlError, UnreachableError } from "../client/http.ts";
import type { SandboxClient } from "../client/sandbox.ts";
import type { ForwardedDelivery, StateRecord } from "../client/types.ts";
import { LocalReceiver, type ReceivedDelivery } from "../tools/receivers/listen.ts";

export type SubscribedEvents = StateRecord<"webhooks">["events"];

export interface ForwardOptions {
  sandbox: SandboxClient;
  /** The receiver on this machine. */
  to: string;
  events: SubscribedEvents;
  /** The fixture's first unless given. */
  organization?: string | undefined;
  /** The webhook's secret; generated unless given. */
  secret?: string | undefined;
  /** Called when deliveries begin to be forwarded: at the start, and after each reconnection. */
  onReady: (webhook: ForwardingWebhook) => void;
  onDelivery: (delivery: ReceivedDelivery) => void;
  /** The connection broke, or an answer came too late; the text says what happens next. */
  onProblem: (text: string) => void;
  signal: AbortSignal;
}

interface ForwardingWebhook {
  webhook_id: string;
  secret: string;
  /** Other webhooks with this URL are forwarded too. */
  url: string;
}

const RECONNECT_PAUSE_MS = 1_000;

/**
 * Forwards a sandbox's deliveries to a receiver on this machine, and its answers back (interfaces.md 11). Creates a
 * receiver and a webhook in the sandbox, and removes them when the signal aborts.
 * @throws ControlError if the sandbox does not exist or refuses the webhook
 */
export async function forwardDeliveries(options: ForwardOptions): Promise<void> {
  const { sandbox, signal, onProblem } = options;
  const { settings } = await sandbox.info();
  const local = new LocalReceiver(options.to, settings.webhook_timeout_seconds * 1000);
  let isOutageReported = false;
  const onReady = (webhook: ForwardingWebhook) => {
    isOutageReported = false;
    options.onReady(webhook);
  };
  const forwarder = new Forwarder({ ...options, onReady }, local);
  try {
    while (!signal.aborted) {
      try {
        await forwarder.run();
      } catch (error) {
        if (!signal.aborted && !shouldReconnect(error)) throw error;
      }
      if (signal.aborted) break;
      if (!isOutageReported)
        onProblem("the sandbox was reset, or its server cannot be reached; reconnecting");
      isOutageReported = true;
      await forwarder.waitUntilReachable();
    }
  } finally {
    await forwarder.end();
    local.close();
  }
}

/** True after a restart of the server or a reset of the sandbox, but not if the sandbox was deleted. */
function shouldReconnect(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  if (!(error instanceof ControlError)) return false;
  return error.status >= 500 || error.problem.type === "urn:understudy:problem:unknown-receiver";
}

class Forwarder {
  private readonly options: ForwardOptions;
  private readonly local: LocalReceiver;
  private receiver: { id: string; url: string } | undefined;
  private webhook: { webhook_id: string; secret: string } | undefined;

  constructor(options: ForwardOptions, local: LocalReceiver) {
    this.options = options;
    this.local = local;
  }

  /** Returns when the stream ends. */
  async run(): Promise<void> {
    const { sandbox, signal } = this.options;
    const existing = (await sandbox.receivers.list()).items.find(({ id }) => id === this.receiver?.id);
    const receiver = existing ?? (await sandbox.receivers.add({ answers: ["forward"], leased: true }));
    this.receiver = receiver;
    for await (const { ready, delivery } of sandbox.receivers.follow(receiver.id, signal)) {
      if (ready) await this.register(receiver);
      // Deliveries do not wait for each other, as when the service sends them itself.
      if (delivery !== undefined) void this.forward(receiver.id, delivery);
    }
  }

  /** Creates the webhook, also after a reset has removed it: the new one has the same secret, so the receiver needs no change. */
  private async register({ id, url }: { id: string; url: string }): Promise<void> {
    const { sandbox, events, organization, to, onReady } = this.options;
    const webhooks = sandbox.state("webhooks");
    const { items } = await webhooks.list({ url });
    const secret = this.webhook?.secret ?? this.options.secret;
    const existing = items.find(({ webhook_id }) => webhook_id === this.webhook?.webhook_id);
    this.webhook =
      existing ??
      (await webhooks.create({
        url,
        events,
        receiver_id: id,
        description: `understudy listen --forward-to ${to}`,
        organization_id: organization,
        secret,
      }));
    onReady({ webhook_id: this.webhook.webhook_id, secret: this.webhook.secret, url });
  }

  private async forward(receiver_id: string, delivery: ForwardedDelivery): Promise<void> {
    const { sandbox, signal, onDelivery, onProblem } = this.options;
    const { answer, receivedDelivery } = await this.local.call(delivery);
    onDelivery(receivedDelivery);
    try {
      await sandbox.receivers.answer(receiver_id, delivery.id, answer);
    } catch (error) {
      if (signal.aborted) return;
      const isLate = error instanceof ControlError && error.status === 404;
      const why = isLate ? "its sender had timed out" : (error as Error).message;
      onProblem(`the answer to ${receivedDelivery.delivery_id} could not be returned: ${why}`);
    }
  }

  /** Resolves once the server answers again, or the signal aborts. */
  async waitUntilReachable(): Promise<void> {
    const { sandbox, signal } = this.options;
    while (!signal.aborted) {
      await sleep(RECONNECT_PAUSE_MS, undefined, { signal }).catch(() => {});
      try {
        await sandbox.info();
        return;
      } catch (error) {
        if (!shouldReconnect(error)) throw error;
      }
    }
  }

  /** Leaves nothing in the sandbox: the webhook is removed with its receiver, now or when the lease ends. */
  async end(): Promise<void> {
    if (this.receiver !== undefined)
      await this.options.sandbox.receivers.remove(this.receiver.id).catch(() => {});
  }
}
