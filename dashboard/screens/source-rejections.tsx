import { headwater, type Schemas } from "../api/client";
import { ROWS, useFresh } from "../api/fresh";
import { type Resource, useResource } from "../api/resource";
import { usePresets } from "../api/verification";
import { to } from "../lib/address";
import { signedCommand } from "../lib/curl";
import { bytes, count, counted, sentence, words } from "../lib/format";
import { Badge, Card, CopyBlock, LinkButton, Notice, Time } from "../ui/basics";
import { Loaded, NothingYet } from "../ui/states";
import { type Column, Table } from "../ui/table";
import { providerName, VerifyBadge } from "./verify-fields";

type Detail = Schemas["SourceDetail"];
type Rejections = Schemas["Rejections"];
type Rejection = Rejections["last"][number];

/** The stream has runs, and a rejected request starts none: it is looked for. The server is a second or two behind. */
const LOOK_MS = 5000;

/** What a source has rejected; null while it lets anybody send. */
export function useRejections(id: string, isVerified: boolean): Resource<Rejections | null> {
  const resource = useResource(
    async call => (isVerified ? headwater.sources.rejections(id, call) : null),
    [id, isVerified],
  );
  useFresh(resource, { of: id, on: ["runs"], pace: ROWS, lookMs: LOOK_MS, isOff: !isVerified });
  return resource;
}

/** Says that no request is accepted, and why the last was not; nothing once one was verified. */
export function RejectionBanner({ source, rejections }: { source: Detail; rejections: Rejections }) {
  const { since_ms: since, last } = rejections;
  const newest = last[0];
  if (since === null || !newest) return null;
  const isSecret = newest.reason === "no-secret";
  return (
    <Notice tone="warn">
      Every request since <Time ms={since} /> {newest.reported ? "would have been" : "was"} rejected:{" "}
      {newest.message}
      {newest.hint === null ? ". " : `; ${newest.hint}. `}
      <a href={to(`/sources/${source.id}/${isSecret ? "settings" : "verification"}`)}>
        {isSecret ? "Set its secret" : "See what was rejected"}
      </a>
    </Notice>
  );
}

interface VerificationProps {
  source: Detail;
  rejections: Resource<Rejections | null>;
}

/** Who may send to a source, who tried to, and how to try it oneself. */
export const Verification = ({ source, rejections }: VerificationProps) => (
  <div class="columns wide-left">
    <section class="card">
      <div class="card-head">
        <h2>Rejected</h2>
      </div>
      <Loaded resource={rejections}>
        {found =>
          found === null || found.last.length === 0 ? (
            <NothingRejected source={source} />
          ) : (
            <Last {...found} />
          )
        }
      </Loaded>
    </section>
    <div class="stack">
      <VerifiedBy source={source} verifiedAtMs={rejections.data?.verified_at_ms ?? null} />
      {rejections.data && <Counts {...rejections.data} />}
      {source.verify?.preset && (
        <Card title="How to try it">
          <div class="stack tight">
            <CopyBlock text={signedCommand(source.id, source.verify.preset)} label="Command" />
            <p class="hint">
              It asks for the secret, signs a request as the provider would, and prints the response. Give it
              another secret, and see why that is rejected.
            </p>
          </div>
        </Card>
      )}
    </div>
  </div>
);

const NothingRejected = ({ source: { id, verify } }: { source: Detail }) =>
  verify === null ? (
    <NothingYet
      icon="key"
      title="Anybody may send"
      action={<LinkButton href={to(`/sources/${id}/settings`)}>Verify who sends</LinkButton>}
    >
      Who knows the address of this source can run it.
    </NothingYet>
  ) : (
    <NothingYet icon="check" title="Nothing was rejected">
      Requests that are not verified appear here by themselves, each with the reason. They run nothing.
    </NothingYet>
  );

/** The last rejected requests, of which no value is kept. */
const Last = ({ last }: Rejections) => (
  <Table columns={COLUMNS} rows={last.map((one, i) => ({ ...one, id: `${one.at_ms}-${i}` }))} />
);

const COLUMNS: Column<Rejection & { id: string }>[] = [
  {
    head: "Reason",
    cell: ({ reason, message, hint, reported }) => (
      <>
        <Badge tone={reported ? "warn" : "bad"}>{words(reason)}</Badge>
        <div>{sentence(message)}.</div>
        {hint !== null && <strong>{sentence(hint)}.</strong>}
        {reported && <div class="sub">It was let through.</div>}
      </>
    ),
  },
  {
    head: "From",
    label: true,
    cell: ({ client_ip, method, body_bytes, headers }) => (
      <>
        <code>{client_ip}</code>
        <div class="sub">
          {method}, {bytes(body_bytes)}
        </div>
        <details class="sub">
          <summary>{counted(headers.length, "header")}</summary>
          {headers.join(", ")}
        </details>
      </>
    ),
  },
  { head: "Arrived", cell: ({ at_ms }) => <Time ms={at_ms} /> },
];

const Counts = ({ counts }: Rejections) =>
  Object.keys(counts).length === 0 ? null : (
    <Card title="Why">
      <dl class="facts">
        {Object.entries(counts)
          .sort(([, one], [, other]) => other - one)
          .map(([reason, number]) => (
            <>
              <dt key={reason}>
                <Badge tone="bad">{words(reason)}</Badge>
              </dt>
              <dd>{count(number)}</dd>
            </>
          ))}
      </dl>
    </Card>
  );

function VerifiedBy({ source, verifiedAtMs }: { source: Detail; verifiedAtMs: number | null }) {
  const presets = usePresets();
  const { verify } = source;
  if (verify === null) return null;
  return (
    <Card title="Verified by" actions={<VerifyBadge verify={verify} />}>
      <dl class="facts">
        <dt>Provider</dt>
        <dd>
          {sentence(providerName(verify, presets.data))}
          {verify.by === "author" && <div class="sub">The component's author says so.</div>}
        </dd>
        <dt>Secrets</dt>
        <dd>{verify.secrets === 0 ? "None: everything is rejected." : `${verify.secrets} set`}</dd>
        <dt>How old</dt>
        <dd>
          {verify.tolerance === null ? "A request may have any age." : `At most ${verify.tolerance} s.`}
        </dd>
        <dt>Not verified</dt>
        <dd>
          {verify.mode === "report" ? "Let through, and marked." : `Rejected with ${verify.reject_with}.`}
        </dd>
        <dt>Verified last</dt>
        <dd>
          <Time ms={verifiedAtMs} />
        </dd>
      </dl>
      <p>
        <a href={to(`/sources/${source.id}/settings`)}>Change</a>
      </p>
    </Card>
  );
}
