import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { headwater, messageOf, type Schemas } from "../api/client";
import { filesOf, type SavedCode } from "../api/code";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { safeLink, to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Badge, Button, Card, Copyable, LinkButton, Notice, Page, Time } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { Select } from "../ui/form";
import { ListFilters } from "../ui/list-filters";
import { ListScreen } from "../ui/list-screen";
import { Prose } from "../ui/prose";
import { Loaded, NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { PartNotice, useFile } from "./component-files";
import { ComponentFrom } from "./component-from";
import { Editor } from "./source-code";

type Type = Schemas["Component"]["type"];

/** The list, or one component. */
export function Components() {
  const { id } = useRoute().params;
  return id ? <Component key={id} id={id} /> : <ComponentList />;
}

function ComponentList() {
  const [isFinding, setFinding] = useState(false);
  const { filters, resource, read } = usePaged(
    (cursor, call, { q, type }) => {
      const wanted = { ...(q && { q }), ...(type && { type: type as Type }), exclude: "code" };
      return inAccount().components.list({ ...cursor, ...wanted }, call);
    },
    ["q", "type"],
  );
  return (
    <ListScreen
      title="Components"
      about="Saved code, from which sources and actions are made. Each change of the code is a component of its own."
      actions={
        <>
          <Button changes onClick={() => setFinding(true)}>
            By key or address …
          </Button>
          <LinkButton changes href={to("/gallery")} kind="primary" icon="plus">
            New source
          </LinkButton>
        </>
      }
      above={
        <ListFilters filters={filters} things="components" placeholder="Name, key or id">
          <Select
            label="Type"
            isBare
            value={filters.query.type ?? ""}
            choices={[
              { value: "", label: "All types" },
              { value: "source", label: "Sources" },
              { value: "action", label: "Actions" },
            ]}
            onChange={type => filters.set({ type })}
          />
        </ListFilters>
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="box"
          title="No components yet"
          command={apiCommand("/components", {
            method: "POST",
            body: { component_url: "https://github.com/OWNER/REPO/blob/main/source.mjs" },
          })}
        >
          A component is saved when a source is made from its code. This command saves one from an address:
        </NothingYet>
      }
      columns={[
        {
          head: "Component",
          cell: row => (
            <>
              <a class="title" href={to(`/components/${row.id}`)}>
                {row.name}
              </a>
              <div class="sub">{row.key ?? row.id}</div>
            </>
          ),
        },
        { head: "Type", label: true, cell: row => <TypeBadge type={row.type} /> },
        { head: "Version", cell: row => <Badge isPlain>{row.version}</Badge> },
        {
          head: "Props",
          cell: row => <span class="muted">{row.configurable_props.map(one => one.name).join(", ")}</span>,
        },
        { head: "Saved", label: true, cell: row => <Time seconds={row.created_at} /> },
      ]}
    >
      {isFinding && <ComponentFrom onClose={() => setFinding(false)} />}
    </ListScreen>
  );
}

const TypeBadge = ({ type }: { type: Type }) => (
  <Badge tone={type === "action" ? "accent" : "info"}>{type}</Badge>
);

function Component({ id }: { id: string }) {
  const { route } = useLocation();
  const resource = useResource(call => headwater.components.get(id, call), [id]);
  const [isDeleting, setDeleting] = useState(false);
  const found = resource.data;
  return (
    <Page
      title={found?.name ?? "Component"}
      crumbs={<a href={to("/components")}>Components</a>}
      about={<Copyable text={id} label="id" />}
      badge={
        found && (
          <>
            <TypeBadge type={found.type} /> <Badge isPlain>{found.version}</Badge>
          </>
        )
      }
      actions={
        found && (
          <>
            <LinkButton changes href={to(`/components/${found.id}/deploy`)} kind="primary" icon="zap">
              {found.type === "action" ? "Deploy as action" : "Deploy source"}
            </LinkButton>
            <Button changes kind="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded resource={resource}>{component => <Detail component={component} />}</Loaded>
      {isDeleting && (
        <Confirm
          title="Delete this component?"
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            try {
              await headwater.components.delete(id);
              route(to("/components"));
            } catch (error) {
              toast(messageOf(error), "bad");
            }
          }}
        >
          <p>
            Its code can't be brought back: a source that had it earlier can't go back to it. It can't be
            deleted while a source or an action uses it: then this is an error, and nothing is gone.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function CodeCard({ saved }: { saved: SavedCode }) {
  const { file, text, field } = useFile(saved.code);
  return (
    <>
      <div class="card-head">
        <h2>Code</h2>
        {field}
      </div>
      {saved.isPart && <PartNotice />}
      <Editor key={file} label="Code of the component" value={text} onChange={() => undefined} isReadOnly />
    </>
  );
}

function Detail({ component }: { component: Schemas["Component"] }) {
  const link = component.component_url === null ? undefined : safeLink(component.component_url);
  const code = useResource(call => filesOf(component, call), [component.id]);
  return (
    <div class="columns wide-left">
      <section class="card">
        <Loaded resource={code}>{saved => <CodeCard saved={saved} />}</Loaded>
      </section>
      <div class="stack">
        <Card title="Facts">
          <dl class="facts">
            <dt>Key</dt>
            <dd>{component.key ?? "–"}</dd>
            <dt>Owner</dt>
            <dd>
              {component.owner_id}
              {component.published && " · published for every account"}
            </dd>
            <dt>Address</dt>
            <dd>
              {link ? (
                <a href={link} target="_blank" rel="noopener noreferrer">
                  {component.component_url}
                </a>
              ) : (
                (component.component_url ?? "None: its code was written here, or sent")
              )}
            </dd>
            <dt>SHA-256</dt>
            <dd>
              <code>{component.code_hash}</code>
            </dd>
          </dl>
        </Card>
        <Card title="Props">
          {component.configurable_props.length === 0 ? (
            <Notice>It has none.</Notice>
          ) : (
            <dl class="facts">
              {component.configurable_props.map(prop => (
                <>
                  <dt key={prop.name}>
                    <code>{prop.name}</code>
                  </dt>
                  <dd>
                    {prop.type}{" "}
                    {prop.description && (
                      <span class="sub">
                        <Prose text={prop.description} />
                      </span>
                    )}
                  </dd>
                </>
              ))}
            </dl>
          )}
        </Card>
      </div>
    </div>
  );
}
