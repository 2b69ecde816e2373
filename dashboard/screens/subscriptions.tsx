import { useEffect, useState } from "preact/hooks";
import { ApiError, headwater, messageOf, type Schemas } from "../api/client";
import { saveEdits, useEdits } from "../api/edits";
import { useFresh } from "../api/fresh";
import { useOwnAccount } from "../api/own-account";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Badge, Button, LinkButton, Notice, Time } from "../ui/basics";
import { Clashes } from "../ui/clashes";
import { Confirm, Dialog } from "../ui/dialog";
import { Field, Form, TextField } from "../ui/form";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { Thing } from "../ui/thing";
import { ThingField } from "../ui/thing-field";
import { toast } from "../ui/toasts";
import { FunctionBadge, hasDeliveries } from "./subscription";

type Subscription = Schemas["Subscription"];

/** The subscriptions of the account: make one, change its filter, or delete it. */
export function Subscriptions() {
  // `emitter` and `listener` begin a new subscription with these.
  const { filters, resource } = usePaged((cursor, call) => inAccount().subscriptions.list(cursor, call));
  useFresh(resource);
  const { emitter, listener } = filters.query;
  const isNew = Boolean(filters.query.new ?? emitter ?? listener);
  const [deleted, setDeleted] = useState<Subscription | null>(null);
  const edited = useEdited(filters.query.edit, resource.data?.data);
  const close = () =>
    filters.set({ new: undefined, emitter: undefined, listener: undefined, edit: undefined });
  const create = (
    <Button kind="primary" icon="plus" onClick={() => filters.set({ new: "1" })}>
      New subscription
    </Button>
  );
  return (
    <ListScreen
      title="Subscriptions"
      about="Which events go where, and what a filter leaves out or a function changes."
      actions={create}
      resource={resource}
      filters={filters}
      empty={
        <NothingYet
          icon="route"
          title="No subscriptions yet"
          command={apiCommand("/subscriptions?emitter_id=dc_…&listener_id=wh_…", { method: "POST" })}
          action={create}
        >
          A subscription carries the events of a source or workflow to a webhook, a destination, another
          source or a workflow:
        </NothingYet>
      }
      columns={[
        { head: "From", cell: row => <Thing id={row.emitter_id} /> },
        { head: "Channel", cell: row => <Badge isPlain>{row.event_name || "default"}</Badge> },
        { head: "To", label: "to", cell: row => <Thing id={row.listener_id} /> },
        {
          head: "Filter",
          class: "filter-cell",
          cell: row =>
            row.filter ? <code>{JSON.stringify(row.filter)}</code> : <span class="muted">all events</span>,
        },
        { head: "Function", cell: row => <FunctionBadge subscription={row} /> },
        {
          head: "",
          cell: row => (
            <div class="row end">
              <Button isSmall onClick={() => filters.set({ edit: row.id })}>
                Filter
              </Button>
              {hasDeliveries(row) && (
                <LinkButton isSmall href={to(`/subscriptions/${row.id}`)}>
                  Function
                </LinkButton>
              )}
              <Button
                isSmall
                kind="ghost"
                icon="trash"
                label="Delete subscription"
                onClick={() => setDeleted(row)}
              />
            </div>
          ),
        },
      ]}
    >
      {(isNew || edited) && (
        <Editor
          key={edited?.id ?? "new"}
          subscription={edited}
          first={{ emitter: emitter ?? "", listener: listener ?? "" }}
          onClose={close}
          onSaved={() => {
            close();
            resource.reload();
          }}
        />
      )}
      {deleted && (
        <Confirm
          title="Delete this subscription?"
          action="Delete"
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            await headwater.subscriptions.delete(deleted.id);
            toast("The subscription is deleted.", "good");
            resource.reload();
          }}
        >
          <p>Deliveries that wait are cancelled.</p>
        </Confirm>
      )}
    </ListScreen>
  );
}

/** The subscription that the address names: of the page, else read by its id. */
function useEdited(id: string | undefined, rows: Subscription[] | undefined): Subscription | undefined {
  const shown = rows?.find(one => one.id === id);
  const isElsewhere = id !== undefined && rows !== undefined && !shown;
  const found = useResource(
    async call => (isElsewhere ? await headwater.subscriptions.get(id, call) : undefined),
    [id, isElsewhere],
  );
  const { error } = found;
  useOwnAccount(found.data);
  useEffect(() => {
    if (error !== undefined) toast(`The subscription ${id} was not found.`, "bad");
  }, [error]);
  return shown ?? (found.data?.id === id ? found.data : undefined);
}

interface EditorProps {
  subscription: Subscription | undefined;
  first: { emitter: string; listener: string };
  onClose: () => void;
  onSaved: () => void;
}

/** All sources, and all workflows. */
const ALL = ["dc_*", "p_*"];
const BY_NAME = "A name from the list, or an id.";

const EXAMPLE = '{ "action": "opened", "amount": { "$gte": 10 } }';

const filterOf = (subscription: Subscription | undefined) => ({
  filter: subscription?.filter ? JSON.stringify(subscription.filter, null, 2) : "",
});

/** Makes a subscription or changes the filter of one; the filter is tried on the last events first. */
function Editor({ subscription, first, onClose, onSaved }: EditorProps) {
  const [emitter, setEmitter] = useState(subscription?.emitter_id ?? first.emitter);
  const [listener, setListener] = useState(subscription?.listener_id ?? first.listener);
  const [channel, setChannel] = useState(subscription?.event_name ?? "");
  const [latest, setLatest] = useState(subscription);
  const edits = useEdits(latest, filterOf);
  const filter = String(edits.values.filter);
  const [fault, setFault] = useState("");
  const [result, setResult] = useState<Schemas["FilterTest"] | null>(null);

  /** Undefined without a filter. Throws for a text that is not JSON. */
  const parsed = () => {
    if (filter.trim() === "") return undefined;
    try {
      return JSON.parse(filter) as Record<string, unknown>;
    } catch (error) {
      throw new Error(`The filter is not JSON: ${messageOf(error)}`);
    }
  };
  const attempt = async (act: () => Promise<void>) => {
    setFault("");
    try {
      await act();
    } catch (error) {
      const places = error instanceof ApiError ? error.errors.map(one => `${one.path} ${one.message}`) : [];
      setFault(places.length > 0 ? places.join("; ") : messageOf(error));
    }
  };
  const test = () =>
    attempt(async () => {
      setResult(null);
      const tested = { emitter_id: emitter, event_name: channel, filter: parsed() ?? {} };
      setResult(await headwater.subscriptions.testFilter(tested));
    });
  const save = () =>
    attempt(async () => {
      const given = parsed();
      if (subscription) {
        const { id } = subscription;
        const isSaved = await saveEdits<Subscription | undefined>({
          resource: { put: setLatest },
          parts: [edits],
          read: () => headwater.subscriptions.get(id),
          write: () => headwater.subscriptions.update(id, { filter: given ?? null }),
        });
        if (!isSaved) return;
      } else {
        await inAccount().subscriptions.create({
          emitter_id: emitter,
          listener_id: listener,
          ...(channel && { event_name: channel }),
          ...(given && { filter: given }),
        });
      }
      toast("Saved.", "good");
      onSaved();
    });
  return (
    <Dialog title={subscription ? "Filter" : "New subscription"} onClose={onClose}>
      <Form onSend={save}>
        {fault && <Notice tone="bad">{fault}</Notice>}
        <Clashes edits={edits} stored={latest} labelOf={() => "Filter"} />
        {!subscription && (
          <>
            <Field label="From" hint={BY_NAME}>
              {props => (
                <ThingField {...props} kinds={["dc", "p"]} also={ALL} value={emitter} onChange={setEmitter} />
              )}
            </Field>
            <TextField
              label="Channel"
              value={channel}
              onInput={setChannel}
              hint="Empty for the default channel; $errors and $logs are channels too."
            />
            <Field label="To" hint={BY_NAME}>
              {props => (
                <ThingField
                  {...props}
                  kinds={["wh", "ds", "ac", "dc", "p"]}
                  value={listener}
                  onChange={setListener}
                />
              )}
            </Field>
          </>
        )}
        <TextField
          label="Filter"
          isLong
          rows={4}
          value={filter}
          onInput={text => edits.set("filter", text)}
          placeholder={EXAMPLE}
          hint="Only events that match are carried; empty for all."
        />
        {result && <TestResult result={result} emitter={emitter} />}
        <div class="row end">
          <Button onClick={test} isDisabled={emitter === "" || emitter.endsWith("*")}>
            Test on the last events
          </Button>
          <span class="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isDisabled={emitter === "" || listener === ""}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const TestResult = ({ result, emitter }: { result: Schemas["FilterTest"]; emitter: string }) => (
  <div class="stack tight" role="status">
    <p>
      <strong>
        {result.matched} of {result.tested}
      </strong>{" "}
      of the last events match.
    </p>
    <ul class="tested">
      {result.results.slice(0, 20).map(one => (
        <li key={one.event_id}>
          <Badge tone={one.matched ? "good" : "none"}>{one.matched ? "matches" : "left out"}</Badge>
          <a href={to(`/events/${emitter}/${one.event_id}`)}>
            <Time ms={one.emitted_at_ms} />
          </a>
          <span class="sub">{one.reason}</span>
        </li>
      ))}
    </ul>
  </div>
);
