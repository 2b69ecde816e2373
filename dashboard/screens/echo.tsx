import { useRoute } from "preact-iso/router";
import { headwater } from "../api/client";
import { useOwnAccount } from "../api/own-account";
import { useResource } from "../api/resource";
import { payloadOf, type Summary, wholeEvent } from "../api/source";
import { to, useFilters } from "../lib/address";
import { postCommand } from "../lib/curl";
import { clockTime, exactTime } from "../lib/format";
import { Badge, Card, Copyable, Page } from "../ui/basics";
import { JsonTree } from "../ui/json-tree";
import { NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { LiveControls, NoRows, Waiting } from "./event-list";
import { useLiveRows } from "./live-rows";

interface Received {
  method?: string;
  path?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

const STATUSES = [200, 410, 429, 503];

/** What arrives at the built-in receiver, and which status it responds with. */
export function Echo() {
  const { id = "" } = useRoute().params;
  const { query } = useFilters([]);
  const source = useResource(call => headwater.sources.get(id, call), [id]);
  useOwnAccount(source.data);
  const live = useLiveRows(id, ["emit"], true);
  const url = source.data?.configured_props.http?.endpoint_url;
  return (
    <Page
      title="Receiver"
      crumbs={<a href={to("/sources")}>Sources</a>}
      about={url ? <Copyable text={`${url}/200`} label="address" /> : "It shows what arrives."}
      actions={<LiveControls live={live} />}
    >
      {query.webhook && url && <Responds webhook={query.webhook} url={url} />}
      <NoRows live={live} />
      {live.stored.data !== undefined && live.rows.length === 0 && (
        <section class="card">
          <NothingYet
            icon="radio"
            title="Nothing arrived yet"
            {...(url && { command: postCommand(`${url}/200`, { name: "world" }) })}
          >
            Requests to the address above appear here by themselves, such as that of this command:
          </NothingYet>
        </section>
      )}
      <Waiting live={live} />
      <ol class="stack" aria-label="Requests">
        {live.rows.slice(0, 50).map(row => (
          <Request key={row.id} row={row} />
        ))}
      </ol>
    </Page>
  );
}

/** Breaks the receiver, and repairs it: its webhook's address says with which status it responds. */
function Responds({ webhook, url }: { webhook: string; url: string }) {
  const resource = useResource(call => headwater.webhooks.get(webhook, call), [webhook]);
  const current = Number(/\/(\d{3})$/.exec(resource.data?.url ?? "")?.[1] ?? 200);
  return (
    <Card title="It responds with">
      <fieldset class="row group" aria-label="Status of the response">
        {STATUSES.map(status => (
          <button
            key={status}
            type="button"
            class={`button small${status === current ? " primary" : ""}`}
            aria-pressed={status === current}
            onClick={async () => {
              const body = { url: `${url}/${status}`, active: true };
              resource.put(await headwater.webhooks.update(webhook, body));
              toast(`It responds with ${status} from now on.`, status === 200 ? "good" : "info");
            }}
          >
            {status}
          </button>
        ))}
        <span class="hint">Break it to watch the retries; repair it, and they arrive.</span>
      </fieldset>
    </Card>
  );
}

function Request({ row }: { row: Summary }) {
  const whole = useResource(async () => (row.metadata.truncated ? await wholeEvent(row) : row), [row.id]);
  const received = payloadOf(whole.data ?? row) as Received;
  const { headers = {}, status = 200 } = received;
  return (
    <li class="card">
      <div class="card-head">
        <h2 class="mono">
          {String(received.method ?? "POST")} {String(received.path ?? "/")}
        </h2>
        <Badge tone={status < 300 ? "good" : "bad"} isPlain>
          {String(status)}
        </Badge>
        <time class="sub mono" title={exactTime(row.indexed_at_ms)}>
          {clockTime(row.indexed_at_ms)}
        </time>
      </div>
      <div class="card-body columns">
        <div>
          <h3>Body</h3>
          <JsonTree value={received.body} />
        </div>
        <div>
          <h3>Headers</h3>
          <dl class="facts headers">
            {Object.entries(headers).map(([name, value]) => (
              <>
                <dt key={name}>{name}</dt>
                <dd>
                  <code>{String(value)}</code>
                </dd>
              </>
            ))}
          </dl>
        </div>
      </div>
    </li>
  );
}
