import { useAttention } from "../api/attention";
import type { CallOptions, Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { nameOf } from "../api/names";
import { readRows } from "../api/pages";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count } from "../lib/format";
import { boxesOf, kindOf, neighboursOf } from "../lib/neighbours";
import { orgId } from "../lib/shown-account";
import { Card, LinkButton, Page } from "../ui/basics";
import { Loaded, NothingYet } from "../ui/states";
import { Table } from "../ui/table";
import { Thing } from "../ui/thing";
import { ThingField } from "../ui/thing-field";
import { Tile } from "../ui/tile";
import { MapPicture, type Side } from "./map-picture";
import { CHANNEL, RULES } from "./subscription-columns";

/** Subscriptions of each side: a picture of more could not be read. */
const MOST_LINKS = 500;
/** Rows of a table. */
const SHOWN = 100;

type Row = Schemas["Subscription"];

/** The subscriptions at both sides of a thing; those of all sources, or all workflows, carry the events of each. */
async function readLinks(node: string, call: CallOptions) {
  const { subscriptions } = inAccount();
  const read = (query: { emitter_id: string } | { listener_id: string }) =>
    readRows(cursor => subscriptions.list({ ...query, ...cursor }, call), { most: MOST_LINKS });
  const kind = kindOf(node);
  const isPattern = node.endsWith("*");
  const isAccount = ["u", "o"].includes(kind);
  const isEmitter = isAccount || ["dc", "p"].includes(kind);
  const [incoming, outgoing, ofAll] = await Promise.all([
    isPattern || isAccount ? null : read({ listener_id: node }),
    isEmitter ? read({ emitter_id: node }) : null,
    isEmitter && !isPattern && !isAccount ? read({ emitter_id: `${kind}_*` }) : null,
  ]);
  return {
    from: incoming?.rows ?? [],
    to: [...(outgoing?.rows ?? []), ...(ofAll?.rows ?? [])],
    totals: { from: incoming?.total ?? 0, to: (outgoing?.total ?? 0) + (ofAll?.total ?? 0) },
  };
}

/** What is connected to what: a chosen thing with what it listens to and what listens to it, or how many there are. */
export function ConnectionMap() {
  const filters = useFilters(["node"]);
  const { node = "" } = filters.query;
  return (
    <Page
      title="Map"
      about="What is connected to what: sources and workflows, and who receives their events."
    >
      <search class="filters">
        <ThingField
          aria-label="Thing in the middle"
          placeholder="A source, webhook … by its name"
          kinds={["dc", "p", "wh", "ds", "ac"]}
          also={["dc_*", "p_*"]}
          value={node}
          onChange={id => filters.set({ node: id, open: undefined })}
        />
        {node !== "" && <LinkButton href={to("/map")}>The whole account</LinkButton>}
      </search>
      {node === "" ? <Whole /> : <Around key={node} node={node} />}
    </Page>
  );
}

/** How much of each kind there is, and where to begin. */
function Whole() {
  const resource = useResource(
    async call => {
      const { sources, workflows, webhooks, destinations, subscriptions } = inAccount();
      const first = { limit: 10 };
      const [emitters, flows, hooks, others, all] = await Promise.all([
        sources.list(first, call),
        workflows.list(first, call),
        webhooks.list(first, call),
        destinations.list(first, call),
        subscriptions.list({ limit: 1 }, call),
      ]);
      return { emitters, flows, hooks, others, subscriptions: all.page_info.total_count };
    },
    [orgId.value],
  );
  useFresh(resource);
  return (
    <Loaded resource={resource}>
      {({ emitters, flows, hooks, others, subscriptions }) => {
        if (subscriptions === 0) {
          return (
            <section class="card">
              <NothingYet
                icon="route"
                title="Nothing is connected yet"
                command={apiCommand("/subscriptions?emitter_id=dc_…&listener_id=wh_…", { method: "POST" })}
              >
                A subscription carries the events of a source or a workflow to who receives them:
              </NothingYet>
            </section>
          );
        }
        const sizes = [
          ["Sources", emitters.page_info.total_count],
          ["Workflows", flows.page_info.total_count],
          ["Subscriptions", subscriptions],
          ["Webhooks", hooks.page_info.total_count],
          ["Destinations", others.page_info.total_count],
        ] as const;
        const begin = [...emitters.data, ...flows.data, ...hooks.data, ...others.data];
        return (
          <>
            <div class="tiles">
              {sizes.map(([label, size]) => (
                <Tile key={label} label={label} value={count(size)} />
              ))}
            </div>
            <Card title="Begin with one of the newest">
              <ul class="stack tight">
                {begin.map(({ id, name }) => (
                  <li key={id}>
                    <a class="in-text" href={to("/map", { node: id })}>
                      {name || nameOf(id)}
                    </a>
                  </li>
                ))}
              </ul>
            </Card>
          </>
        );
      }}
    </Loaded>
  );
}

function Around({ node }: { node: string }) {
  const filters = useFilters([]);
  const open = new Set((filters.query.open ?? "").split(",").filter(Boolean));
  const resource = useResource(call => readLinks(node, call), [node]);
  useFresh(resource);
  const attention = useAttention();
  const { disabled = [], failing = [], sources = [] } = attention.data ?? {};
  const troubled = new Set([...disabled, ...failing, ...sources].map(({ id }) => id));
  const opened = (side: Side) =>
    new Set([...open].filter(one => one.startsWith(`${side}-`)).map(one => one.slice(side.length + 1)));
  const toggled = (side: Side, kind: string) => {
    const next = new Set(open);
    if (!next.delete(`${side}-${kind}`)) next.add(`${side}-${kind}`);
    return to("/map", { node, open: [...next].join(",") });
  };
  const allOf = (side: Side) =>
    to("/subscriptions", side === "from" ? { listener_id: node } : { emitter_id: node });
  return (
    <Loaded resource={resource} lines={8}>
      {links => {
        const rows: Row[] = [...links.from, ...links.to];
        const sides = {
          from: boxesOf(neighboursOf(links.from, "emitter"), opened("from")),
          to: boxesOf(neighboursOf(links.to, "listener"), opened("to")),
        };
        const named =
          rows.find(row => row.emitter_id === node)?.emitter_name ??
          rows.find(row => row.listener_id === node)?.listener_name;
        const left = links.totals.from + links.totals.to - rows.length;
        return (
          <>
            <section class="card map-card">
              <div class="card-head">
                <h2>
                  <Thing id={node} name={named} />
                </h2>
                <span class="sub">dashed: filtered · !: needs somebody</span>
              </div>
              <MapPicture
                node={{ id: node, name: named ?? nameOf(node) }}
                sides={sides}
                troubled={troubled}
                toggled={toggled}
                allOf={allOf}
              />
            </section>
            <Card title="The same as a table" isPadded={false}>
              {rows.length === 0 ? (
                <p class="card-body muted">No subscription names it.</p>
              ) : (
                <Table
                  rows={rows.slice(0, SHOWN)}
                  columns={[
                    { head: "From", cell: row => <Neighbour id={row.emitter_id} name={row.emitter_name} /> },
                    CHANNEL,
                    {
                      head: "To",
                      label: "to",
                      cell: row => <Neighbour id={row.listener_id} name={row.listener_name} />,
                    },
                    ...RULES,
                  ]}
                />
              )}
              {(rows.length > SHOWN || left > 0) && (
                <p class="card-body">
                  <a href={allOf(links.totals.to > links.totals.from ? "to" : "from")}>
                    All {count(links.totals.from + links.totals.to)}
                  </a>
                </p>
              )}
            </Card>
          </>
        );
      }}
    </Loaded>
  );
}

/** A link to the map around a thing. */
const Neighbour = ({ id, name }: { id: string; name?: string | null | undefined }) => (
  <a class="thing" href={to("/map", { node: id })} title={id}>
    {name || nameOf(id)}
  </a>
);
