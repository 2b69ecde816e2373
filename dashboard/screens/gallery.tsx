import { useRoute } from "preact-iso/router";
import { headwater, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { to, useFilters } from "../lib/address";
import { sentence } from "../lib/format";
import { Badge, Card, Copyable, LinkButton, Notice, Page } from "../ui/basics";
import { Select } from "../ui/form";
import { JsonTree } from "../ui/json-tree";
import { ListFilters } from "../ui/list-filters";
import { OutsideLink, Prose } from "../ui/prose";
import { Loaded, NothingMatches, NothingYet } from "../ui/states";
import { DeployForm } from "./deploy-component";

type GalleryCard = Schemas["GalleryCard"];
type Entry = Schemas["GalleryEntry"];
type Account = GalleryCard["app"]["account"]["kind"];

/** What an account needs with the vendor, as a card says it. */
const NEEDED: Record<Account, string> = { none: "No account", key: "Needs a key", oauth: "Needs consent" };

/** The cards, or what one of them is about. */
export function Gallery() {
  const { key } = useRoute().params;
  return key ? <EntryPage key={key} name={key} /> : <Cards />;
}

function Cards() {
  const filters = useFilters(["q", "category", "account", "type"]);
  const { q, category, account, type } = filters.query;
  const query = { q, category, account, type } as Parameters<typeof headwater.gallery.list>[0];
  const resource = useResource(call => headwater.gallery.list(query, call), [q, category, account, type]);
  return (
    <Page
      title="Gallery"
      crumbs={<a href={to("/sources")}>Sources</a>}
      about="Ready-made sources and actions: choose one, fill in its form, and deploy it."
      actions={
        <LinkButton href={to("/sources/new")} icon="code">
          Write one yourself
        </LinkButton>
      }
    >
      <ListFilters filters={filters} things="the gallery" placeholder="Name, app or what it does">
        <Select
          label="Category"
          isBare
          value={category ?? ""}
          choices={[
            { value: "", label: "All categories" },
            ...(resource.data?.categories ?? []).map(value => ({ value, label: sentence(value) })),
          ]}
          onChange={chosen => filters.set({ category: chosen })}
        />
        <Select
          label="Account"
          isBare
          value={account ?? ""}
          choices={[
            { value: "", label: "With or without an account" },
            ...Object.entries(NEEDED).map(([value, label]) => ({ value, label })),
          ]}
          onChange={chosen => filters.set({ account: chosen })}
        />
        <Select
          label="Type"
          isBare
          value={type ?? ""}
          choices={[
            { value: "", label: "Sources and actions" },
            { value: "source", label: "Sources" },
            { value: "action", label: "Actions" },
          ]}
          onChange={chosen => filters.set({ type: chosen })}
        />
      </ListFilters>
      <Loaded resource={resource}>
        {({ components }) => {
          if (components.length > 0) return <Groups cards={components} />;
          return (
            <section class="card">
              {filters.isFiltered ? <NothingMatches onClear={filters.clear} /> : <IsOff />}
            </section>
          );
        }}
      </Loaded>
      <p class="sub">
        Names of vendors belong to their owners, who have nothing to do with these components.
      </p>
    </Page>
  );
}

const IsOff = () => (
  <NothingYet
    icon="box"
    title="The gallery is off"
    action={<LinkButton href={to("/sources/new")}>Write a source</LinkButton>}
  >
    Who operates this server has turned it off.
  </NothingYet>
);

/** Those first that anybody can deploy at once. */
function Groups({ cards }: { cards: GalleryCard[] }) {
  const isFree = ({ app }: GalleryCard) => app.account.kind === "none";
  const groups: [string, GalleryCard[]][] = [
    ["No account needed", cards.filter(isFree)],
    ["Account needed", cards.filter(card => !isFree(card))],
  ];
  return (
    <>
      {groups
        .filter(([, shown]) => shown.length > 0)
        .map(([title, shown]) => (
          <section key={title} class="stack">
            <h2>{title}</h2>
            <CardGrid cards={shown} />
          </section>
        ))}
    </>
  );
}

const CardGrid = ({ cards }: { cards: GalleryCard[] }) => (
  <ul class="gallery">
    {cards.map(card => (
      <li key={card.key} class="card">
        <Monogram app={card.app} />
        <div>
          <h3>
            <a href={to(`/gallery/${card.key}`)}>{card.name}</a>
          </h3>
          <p>{card.description}</p>
          <Facts card={card} />
        </div>
      </li>
    ))}
  </ul>
);

/** In place of an icon: a vendor's mark is the vendor's. */
const Monogram = ({ app }: { app: GalleryCard["app"] }) => (
  <span class="monogram" aria-hidden="true">
    {app.monogram}
  </span>
);

const Facts = ({ card }: { card: GalleryCard }) => (
  <div class="row">
    <Badge tone={card.type === "action" ? "accent" : "info"}>{card.type}</Badge>
    <Badge isPlain>{NEEDED[card.app.account.kind]}</Badge>
    {card.app.maturity === "beta" && <Badge tone="warn">beta</Badge>}
    {card.origin && <Badge isPlain>by {card.origin.title}</Badge>}
  </div>
);

function EntryPage({ name }: { name: string }) {
  const resource = useResource(
    async call => {
      const entry = await headwater.gallery.get(name, call);
      const id = entry.component_id;
      return { entry, component: id === null ? null : await headwater.components.get(id, call) };
    },
    [name],
  );
  const entry = resource.data?.entry;
  return (
    <Page
      title={entry?.name ?? "Gallery"}
      crumbs={<a href={to("/gallery")}>Gallery</a>}
      about={entry?.description}
      badge={entry && <Facts card={entry} />}
    >
      <Loaded resource={resource}>
        {found => (
          <div class="columns wide-left">
            {found.component ? (
              <DeployForm
                component={found.component}
                hasSample={found.entry.sample !== null}
                keyLink={found.entry.app.account.where}
              />
            ) : (
              <Notice>
                It is not published on this server: it has just been updated, or who operates it unpublished
                it.
              </Notice>
            )}
            <div class="stack">
              <About entry={found.entry} />
              {found.entry.sample !== null && (
                <Card title="An event of it">
                  <JsonTree value={found.entry.sample} />
                </Card>
              )}
              <Card title="Versions">
                <Changes entry={found.entry} />
              </Card>
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function About({ entry }: { entry: Entry }) {
  const { account, docs, name, last_checked } = entry.app;
  return (
    <Card title="What it needs">
      <dl class="facts">
        {entry.origin && (
          <>
            <dt>Published by</dt>
            <dd>
              {entry.origin.title}
              <div class="sub">{entry.origin.url}</div>
            </dd>
          </>
        )}
        <dt>App</dt>
        <dd>{name}</dd>
        <dt>Account</dt>
        <dd>
          {account.needs ? <Prose text={account.needs} /> : "None."}
          {account.where && (
            <div>
              <OutsideLink {...account.where} />
            </div>
          )}
        </dd>
        {docs && (
          <>
            <dt>Documents</dt>
            <dd>
              <div>
                <OutsideLink {...docs} />
              </div>
              <div class="sub">Read last on {last_checked}.</div>
            </dd>
          </>
        )}
        <dt>Key</dt>
        <dd>
          <Copyable text={entry.key} label="key" />
        </dd>
      </dl>
    </Card>
  );
}

/** What is new in the versions behind `since`, or in all of them. */
export function Changes({ entry, since }: { entry: Pick<Entry, "changelog">; since?: string }) {
  const at = entry.changelog.findIndex(({ version }) => version === since);
  return (
    <dl class="facts">
      {entry.changelog.slice(0, at === -1 ? undefined : at).map(({ version, date, changes }) => (
        <>
          <dt key={version}>{version}</dt>
          <dd>
            <span class="sub">{date}</span> {changes.join(" ")}
          </dd>
        </>
      ))}
    </dl>
  );
}
