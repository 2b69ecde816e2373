import type { Schemas } from "../api/client";
import { duration } from "../lib/format";
import { Badge, Moment } from "../ui/basics";
import { JsonTree } from "../ui/json-tree";
import { LogLines } from "../ui/log-lines";
import { type Attempt, Status } from "./delivery-parts";

/** Headers that differ from attempt to attempt, as they were sent. */
const headersOf = ({ number, at_ms }: Attempt): Record<string, string> => ({
  "webhook-timestamp": String(Math.floor(at_ms / 1000)),
  "x-headwater-attempt": String(number),
});

type Output = Schemas["ActionOutput"];

/** What an action did, as it says itself: its summary, what it exported and returned, and its log. */
const ActionResult = ({
  output: { summary, exports, return_value, truncated, logs },
}: {
  output: Output;
}) => (
  <>
    {summary !== null && <p class="summary">{summary}</p>}
    {Object.keys(exports).length > 0 && (
      <div>
        <div class="sub">Exports</div>
        <JsonTree value={exports} />
      </div>
    )}
    {return_value !== null && (
      <div>
        <div class="sub">Returned</div>
        <JsonTree value={return_value} />
      </div>
    )}
    {truncated && <p class="sub">Only its first 4 KB are kept.</p>}
    <LogLines lines={logs} />
  </>
);

interface AttemptsProps {
  attempts: (Attempt & { output?: Output })[];
  listenerId: string;
  hasHeaders?: boolean;
}

/** The attempts of a delivery, newest first; the response is a stranger's text. */
export const Attempts = ({ attempts, listenerId, hasHeaders = false }: AttemptsProps) => (
  <ol class="attempts">
    {[...attempts].reverse().map(attempt => (
      <li key={attempt.number}>
        <div class="row">
          <strong>Attempt {attempt.number}</strong>
          <Status attempt={attempt} listenerId={listenerId} />
          <span class="muted">{duration(attempt.latency_ms)}</span>
          {attempt.trigger === "manual" && <Badge tone="info">By hand</Badge>}
          <span class="muted">
            <Moment ms={attempt.at_ms} />
          </span>
        </div>
        {hasHeaders && (
          <p class="sub mono">
            {Object.entries(headersOf(attempt))
              .map(([name, value]) => `${name}: ${value}`)
              .join(" · ")}
          </p>
        )}
        {attempt.error && <p class="fault">{attempt.error}</p>}
        {attempt.response && !attempt.output && (
          <section tabIndex={0} aria-label={`Response to attempt ${attempt.number}`} class="response">
            <pre>{attempt.response}</pre>
          </section>
        )}
        {attempt.output && <ActionResult output={attempt.output} />}
      </li>
    ))}
  </ol>
);
