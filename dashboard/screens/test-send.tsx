import { useState } from "preact/hooks";
import { callsOf } from "../api/listeners";
import { duration } from "../lib/format";
import { Badge, Button } from "../ui/basics";
import { Dialog } from "../ui/dialog";

interface TestResult {
  status: number | null;
  latency_ms: number;
  error: string | null;
  response: string;
}

/** Sends a test event to a webhook or a destination now, and shows what came back. */
export function TestSend({ id }: { id: string }) {
  const [result, setResult] = useState<TestResult | null>(null);
  return (
    <>
      <Button changes icon="send" onClick={async () => setResult(await callsOf(id).test(id))}>
        Send a test event
      </Button>
      {result && (
        <Dialog title="Test event" onClose={() => setResult(null)}>
          <div class="row">
            <Badge tone={result.error === null ? "good" : "bad"}>{result.status ?? "no response"}</Badge>
            <span class="muted">in {duration(result.latency_ms)}</span>
          </div>
          {result.error && <p class="fault">{result.error}</p>}
          {result.response && <pre class="response">{result.response}</pre>}
          <div class="row end">
            <Button onClick={() => setResult(null)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
