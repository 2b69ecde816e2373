import type { HttpEvent } from "../../ingress/http-event.ts";
import { accepted, fromComponent, type IngressResponse, rejected } from "../../ingress/response.ts";
import { newId } from "../../lib/ids.ts";
import type { Live } from "./live.ts";

/**
 * Answers a request as ingress does (runtime.md, "Events given to run"): at once, or as the component says where its
 * code may; a run that ends without a word is 200, or 400 with `customResponse`; too late is 504.
 */
export function requestTaker(source: Live, httpResponseWaitMs: number) {
  const { session, printer } = source;

  async function responseOf(event: HttpEvent): Promise<IngressResponse> {
    const { description, hasHttp } = source.code;
    if (!hasHttp) return rejected(404, "the component has no HTTP interface");
    const runId = newId("run");
    const isCustom = description.props.some(prop => prop.customResponse);
    if (!isCustom && !description.usesRespond) {
      void session.run(event);
      return accepted(runId);
    }
    return new Promise(done => {
      const late = setTimeout(
        () => done(rejected(504, "the component did not answer in time")),
        httpResponseWaitMs,
      );
      const answer = (given: IngressResponse) => {
        clearTimeout(late);
        done(given);
      };
      const ended = isCustom ? rejected(400, "the component ended without a response") : accepted(runId);
      void session
        .run(event, { onRespond: response => answer(fromComponent(response)) })
        .then(() => answer(ended));
    });
  }

  return async (event: HttpEvent): Promise<IngressResponse> => {
    const what = `${event.method} ${event.path}`;
    printer.say("request", what);
    const answer = await responseOf(event);
    printer.say("answer", `${what} ${answer.status} ${answer.body.length} bytes`);
    return answer;
  };
}
