import {
  type AppRequest,
  cachedAppRules,
  isItsEndpoint,
  parseAppEndpoint,
  readAppRequest,
} from "../connections/app-events.ts";
import { lookUpConnection } from "../connections/look-up.ts";
import { requestState } from "../http/request-log.ts";
import { hopsOfRequest } from "../lib/hops.ts";
import { newId } from "../lib/ids.ts";
import type { Connection } from "../models/connection.ts";
import type { Observed, Stores } from "../platform.ts";
import { type AppListener, appListenersOf } from "../sources/listen-to-app.ts";
import { hasArrived, noteArrived } from "../store/limits/arrived-ids.ts";
import { inSpan } from "../tracing/in-span.ts";
import { inboundTrace } from "../tracing/inbound.ts";
import { type TraceContext, traceField } from "../tracing/trace-context.ts";
import { type Arrival, withEvent } from "./arrival.ts";
import { gateOf } from "./gate.ts";
import type { HttpEvent } from "./http-event.ts";
import { acceptedRuns, type IngressResponse, plainText, repeatedEvent } from "./response.ts";
import { type Admitted, verificationOfConnection, withSender } from "./verification.ts";

/** Returns the connection at whose endpoint an app's events arrive; null if there is none. Throws `unavailable`. */
export async function findAppEndpoint(platform: Stores, endpoint: string): Promise<Connection | null> {
  const named = parseAppEndpoint(endpoint);
  if (!named) return null;
  await platform.routing.refresh();
  const connection = await lookUpConnection(platform, named.connectionId);
  return connection && isItsEndpoint(connection, named.token, platform.clock()) ? connection : null;
}

/**
 * Accepts what an app sends to the endpoint of a connection: a run of each source that listens to the event, or the text
 * with which the app checks the endpoint (docs/connections.md#events-of-an-app), unless it is not verified. Throws as `withEvent` and `Enqueue` do;
 * then the sources that have their run run all the same.
 */
export async function acceptAppEvent(
  platform: Stores & Observed,
  arrival: Arrival,
  connection: Connection,
): Promise<IngressResponse> {
  const inbound = inboundTrace(platform, arrival.ctx.headers);
  const span = platform.tracer.enter("ingress", platform.clock(), { inbound });
  const attributes = { "headwater.trigger": "http", "headwater.connection_id": connection._id };
  const trace = span?.context ?? inbound;
  requestState(arrival.ctx).ids = { connection_id: connection._id, ...traceField(trace) };
  const app = await cachedAppRules(platform, connection.app);
  const verification = verificationOfConnection(platform, connection, app);
  const gate =
    verification && gateOf(platform, arrival, { subject: connection, verification, isBeingSetUp: false });
  let response = acceptedRuns([]);
  const accept = async (received: HttpEvent, admitted: Admitted | null) => {
    const event = verification && admitted ? withSender(verification, received, admitted) : received;
    const id = verification?.dropsRepeats ? (event.verified?.id ?? null) : null;
    const said = readAppRequest(connection.events ?? app.events ?? {}, event);
    if (said.challenge !== null) response = plainText(said.challenge);
    else if (id !== null && (await hasArrived(platform, connection._id, id))) response = repeatedEvent();
    else if (isReport(event, said)) {
      const listeners = await appListenersOf(platform, connection, said.names);
      response = acceptedRuns(await runAll(platform, arrival, listeners, { said, event, trace }));
      if (id !== null) await noteArrived(platform, connection._id, id);
    }
  };
  const rejected = await inSpan(platform, span, attributes, () =>
    withEvent(platform, arrival, connection.owner_id, accept, gate),
  );
  return rejected ?? response;
}

/** True for a request that reports an event; others only look whether the address exists. */
const isReport = ({ method }: HttpEvent, { event }: AppRequest): boolean =>
  event !== undefined && method !== "GET" && method !== "HEAD";

interface Reported {
  said: AppRequest;
  event: HttpEvent;
  trace: TraceContext | undefined;
}

/** Enqueues a run of each source, and returns their ids. Throws the first failure once all have ended. */
async function runAll(
  { clock }: Stores & Observed,
  { ctx, enqueue }: Arrival,
  listeners: AppListener[],
  { said, event, trace }: Reported,
): Promise<string[]> {
  const runs = listeners.map(source => ({ source, runId: newId("run", clock()) }));
  const ended = await Promise.allSettled(
    runs.map(({ source, runId }) =>
      enqueue({
        source,
        item: {
          ...{ kind: "http", run_id: runId, at_ms: clock(), event: said.event },
          ...hopsOfRequest(ctx.headers),
          ...(trace && { trace }),
        },
        chars: event.bodyRaw.length,
      }),
    ),
  );
  const failed = ended.find(one => one.status === "rejected");
  if (failed) throw failed.reason;
  return runs.map(({ runId }) => runId);
}
