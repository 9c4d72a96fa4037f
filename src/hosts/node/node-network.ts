import type { Server } from "node:http";
import { Connections } from "./close-server.ts";
import { type Certificate, createMessageClasses, createNodeServer } from "./create-server.ts";
import type { MessageClasses } from "./express-server.ts";
import { type AddressPolicyOptions, createAddressPolicy } from "./outbound/address-policy.ts";
import {
  createOutbound,
  createUrlResolver,
  type Outbound,
  type OutboundOptions,
} from "./outbound/outbound.ts";
import { OwnAddress } from "./own-address.ts";
import { WireBreaker } from "./perform-wire.ts";
import { SandboxOrigins } from "./sandbox-origins.ts";
import { createSendToSelf } from "./send-to-self.ts";
import { Sites } from "./sites.ts";

interface NetworkOptions {
  certificate?: Certificate | undefined;
  publicUrl?: string | undefined;
  trustProxy?: readonly string[] | undefined;
  policy: AddressPolicyOptions;
  /** Whether a URL may be this server's, which answers at `port`. */
  isOwnHost: (url: URL, port: number) => boolean;
}

/** The server's sockets: where clients reach it, and how it reaches receivers. */
export class NodeNetwork {
  readonly messageClasses: MessageClasses = createMessageClasses();
  readonly server: Server;
  readonly connections: Connections;
  readonly origins: SandboxOrigins;
  readonly ownAddress: OwnAddress;
  readonly sites: Sites;
  readonly wireBreaker = new WireBreaker();
  readonly sendToSelf = createSendToSelf(() => this.ownAddress.selfAddress);
  /** Sends deliveries. */
  readonly outbound: Outbound;
  private readonly outboundOptions: OutboundOptions;

  constructor({ certificate, publicUrl, trustProxy, policy, isOwnHost }: NetworkOptions) {
    this.server = createNodeServer(this.messageClasses, certificate);
    this.connections = new Connections(this.server);
    this.origins = new SandboxOrigins(this.server, this.connections);
    this.ownAddress = new OwnAddress(this.server);
    this.sites = new Sites({ ownAddress: this.ownAddress, origins: this.origins }, { publicUrl, trustProxy });
    this.outboundOptions = {
      policy: createAddressPolicy(policy),
      findOwnAddress: this.ownAddress.createReceiverLookup(this.origins, isOwnHost),
    };
    this.outbound = createOutbound(this.outboundOptions);
  }

  /** Ends streams, finishes other answers that have begun, and closes all connections. */
  async close(endStreams: () => void): Promise<void> {
    const end = () => {
      this.wireBreaker.close();
      endStreams();
    };
    await this.connections.close(end, [this.origins.closeAll(), this.ownAddress.close()]);
  }

  /** For the receiver test: sends its requests, and finds the addresses of receivers. */
  createGraderNetwork() {
    const options = this.outboundOptions;
    return { outbound: createOutbound(options), resolveUrl: createUrlResolver(options) };
  }
}
