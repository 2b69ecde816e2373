import { Fragment } from "preact";
import { to } from "../lib/address";
import { framesOf } from "../lib/stack";
import { JsonTree } from "../ui/json-tree";

/** An event of the channel `$errors` (docs/rest-api.md#event-summary), as far as it is shown; a workflow engine sends its own. */
interface ErrorEvent {
  error?: { code?: string; message?: string; stack?: string; cellId?: string };
  original_event?: unknown;
}

interface RunErrorProps {
  event: Record<string, unknown>;
  /** The source whose code threw it; none of another emitter's error. */
  sourceId?: string | undefined;
  /** The event's id: the editor begins with what the run received. */
  errorId: string;
}

/** What a run threw: message and stack, whose lines lead into the code, and folded below what it received. */
export function RunError({ event, sourceId, errorId }: RunErrorProps) {
  const { error = {}, original_event } = event as ErrorEvent;
  const frames = framesOf(String(error.stack ?? ""));
  return (
    <div class="stack tight">
      <pre class="response fault">
        {error.code}
        {error.message && `: ${error.message}`}
      </pre>
      {frames.length > 0 && (
        <section class="response" tabIndex={0} aria-label="Stack">
          <pre>
            {frames.map(({ text, file, line }, i) => (
              <Fragment key={i}>
                {file !== undefined && sourceId !== undefined ? (
                  <a
                    href={to(`/sources/${sourceId}/code`, {
                      ...{ input: errorId, file, line: String(line), of: error.cellId },
                    })}
                  >
                    {text.trim()}
                  </a>
                ) : (
                  text.trim()
                )}
                {"\n"}
              </Fragment>
            ))}
          </pre>
        </section>
      )}
      {original_event !== undefined && (
        <details>
          <summary>What the run received</summary>
          <JsonTree value={original_event} />
        </details>
      )}
    </div>
  );
}
