import { type SentinelConnectionOptions, SentinelConnector } from "ioredis";

/**
 * Finds the master through Sentinels. ioredis 6.0.0 goes on listening with the Sentinels of a connection that is lost, and word
 * of the failover that broke it, when it comes while the next connection is being opened, ends the client for good: a
 * worker that is never served again. A client that is just asking needs no word of it.
 */
export class MasterConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  override connect(
    emit: Parameters<SentinelConnector["connect"]>[0],
  ): ReturnType<SentinelConnector["connect"]> {
    this.disconnect();
    return super.connect(emit);
  }
}
