import type { HttpEvent } from "../../ingress/http-event.ts";
import { accepted, fromComponent, type IngressResponse, rejected } from "../../ingress/response.ts";
import { settlesWithin } from "../../lib/deadline.ts";
import { newId } from "../../lib/ids.ts";
import type { DevSource } from "./dev-source.ts";

/**
 * Returns a handler of HTTP requests that responds as the ingress of a server does
 * (docs/component-api.md#events-given-to-run): at once, or with the component's own response if its code may send
 * one. If a run ends without a response, that is 200, or 400 with `customResponse`; after `maxWaitMs` it is 504.
 */
export function createRequestHandler(source: DevSource, maxWaitMs: number) {
  const { session, printer } = source;

  async function respond(event: HttpEvent): Promise<IngressResponse> {
    const { description, props, hasHttp } = source.code;
    if (!hasHttp) return rejected(404, "the component has no HTTP interface");
    const runId = newId("run");
    const isCustom = props.some(prop => prop.customResponse);
    if (!isCustom && !description.usesRespond) {
      void session.run(event);
      return accepted(runId);
    }
    const response = new Promise<IngressResponse>(resolve => {
      const withoutResponse = isCustom
        ? rejected(400, "the component ended without a response")
        : accepted(runId);
      void session
        .run(event, { onRespond: given => resolve(fromComponent(given)) })
        .then(() => resolve(withoutResponse));
    });
    const isInTime = await settlesWithin(response, maxWaitMs);
    return isInTime ? response : rejected(504, "the component did not respond in time");
  }

  return async (event: HttpEvent): Promise<IngressResponse> => {
    const request = `${event.method} ${event.path}`;
    printer.say("request", request);
    const response = await respond(event);
    printer.say("response", `${request} ${response.status} ${response.body.length} bytes`);
    return response;
  };
}
