import { useEffect, useMemo, useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { headwater, messageOf, type Schemas } from "../api/client";
import { asRead, saveEdits, useEdits } from "../api/edits";
import { useFresh } from "../api/fresh";
import { loadNames, nameOf } from "../api/names";
import { useOwnAccount } from "../api/own-account";
import { type Resource, useResource } from "../api/resource";
import type { Fault } from "../editor/editor";
import { to } from "../lib/address";
import { counted } from "../lib/format";
import { Badge, Button, Card, LinkButton, Notice, Page, Time } from "../ui/basics";
import { Clashes } from "../ui/clashes";
import { Confirm } from "../ui/dialog";
import { Dock } from "../ui/dock";
import { HelpLink } from "../ui/help-link";
import { LogLines } from "../ui/log-lines";
import { Loaded } from "../ui/states";
import { Thing } from "../ui/thing";
import { toast } from "../ui/toasts";
import { useUnsaved } from "../ui/unsaved";
import { IdOfThing } from "./audit-parts";
import { FunctionResultPane, FunctionTryPane, faultsOf, useFunctionTrial } from "./function-trial";
import { Editor } from "./source-code";

type Subscription = Schemas["Subscription"];

/** A source, a workflow or an agent gets events as they are (docs/functions.md). */
export const hasDeliveries = ({ listener_id }: Subscription): boolean => /^(wh|ds|ac)_/.test(listener_id);

const STARTER = `// Gets each event, and returns what is sent in its place; null drops it.
export default (event, meta) => {
  return event;
};
`;

/** One subscription: its route, and the function that its events go through. */
export function Subscription() {
  const { id = "" } = useRoute().params;
  useEffect(loadNames, []);
  const resource = useResource(call => headwater.subscriptions.get(id, call), [id]);
  useOwnAccount(resource.data);
  const listener = resource.data?.listener_id;
  useFresh(resource, { on: ["deliveries"], ...(listener !== undefined && { of: listener }) });
  const found = resource.data;
  return (
    <Page
      title={found ? `${nameOfEmitter(found)} → ${nameOfListener(found)}` : "Subscription"}
      crumbs={<a href={to("/subscriptions")}>Subscriptions</a>}
      badge={found && <FunctionBadge subscription={found} />}
      about={<IdOfThing id={id} />}
    >
      <Loaded resource={resource}>
        {subscription =>
          hasDeliveries(subscription) ? (
            <Workbench key={subscription.id} subscription={subscription} resource={resource} />
          ) : (
            <div class="stack">
              <Facts subscription={subscription} />
              <Notice>
                A source, a workflow or an agent receives events as they are: only what is sent to a webhook
                or a destination goes through a function.
              </Notice>
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}

const nameOfEmitter = ({ emitter_id, emitter_name }: Subscription) => emitter_name || nameOf(emitter_id);
const nameOfListener = ({ listener_id, listener_name }: Subscription) => listener_name || nameOf(listener_id);

/** Whether there is a function, and how often it failed. */
export function FunctionBadge({ subscription }: { subscription: Subscription }) {
  const { function_hash, function_errors: errors = 0 } = subscription;
  if (function_hash === undefined) return null;
  return errors > 0 ? (
    <Badge tone="bad">{counted(errors, "error")}</Badge>
  ) : (
    <Badge tone="good">Function</Badge>
  );
}

const Facts = ({
  subscription: { id, emitter_id, emitter_name, event_name, listener_id, listener_name, filter },
}: EditedProps) => (
  <Card
    title="Route"
    actions={
      <LinkButton changes isSmall href={to("/subscriptions", { edit: id })}>
        Change filter
      </LinkButton>
    }
  >
    <dl class="facts">
      <dt>From</dt>
      <dd>
        <Thing id={emitter_id} name={emitter_name} />
      </dd>
      <dt>Channel</dt>
      <dd>{event_name || "default"}</dd>
      <dt>To</dt>
      <dd>
        <Thing id={listener_id} name={listener_name} />
      </dd>
      <dt>Filter</dt>
      <dd>{filter ? <code>{JSON.stringify(filter)}</code> : <span class="muted">all events</span>}</dd>
    </dl>
  </Card>
);

interface EditedProps {
  subscription: Subscription;
}

const functionOf = (subscription: Subscription) => ({ function: subscription.function ?? STARTER });

/** Only a request knows what is wrong with a function. */
const checkNothing = async (): Promise<Fault[]> => [];

/** Edits the function, tries it, and shows what it failed on. */
function Workbench({ subscription, resource }: EditedProps & { resource: Resource<Subscription> }) {
  const saved = subscription.function;
  const edits = useEdits(subscription, functionOf);
  const code = String(edits.values.function);
  const [isRemoving, setRemoving] = useState(false);
  const [fault, setFault] = useState("");
  /** What a request found wrong, and in which code. */
  const [found, setFound] = useState<{ code: string; faults: Fault[] } | null>(null);
  useUnsaved(edits.isChanged);
  const trial = useFunctionTrial({
    code,
    subscription,
    onTried: (tried, faults) => setFound({ code: tried, faults }),
  });
  const { last_function_error: last } = subscription;
  const faults = useMemo(() => {
    if (found?.code === code) return found.faults;
    return last && code === saved ? [last] : [];
  }, [found, code, last?.at_ms, saved]);
  const { id } = subscription;
  const set = async (next: string | null) => {
    const isSaved = await saveEdits({
      resource,
      parts: [edits],
      read: () => headwater.subscriptions.get(id),
      write: now => headwater.subscriptions.update(id, { function: next }, asRead(now)),
    });
    if (isSaved) setFound(null);
    return isSaved;
  };
  const save = async () => {
    setFault("");
    try {
      if (await set(code)) toast("Saved.", "good");
    } catch (error) {
      const faults = faultsOf(error);
      setFault(faults[0]?.message ?? messageOf(error));
      setFound({ code, faults });
    }
  };
  return (
    <div class="stack">
      <Clashes edits={edits} stored={subscription} labelOf={() => "The function"} />
      <Dock
        code={
          <>
            <div class="card-head">
              <h2>Function</h2>
              <HelpLink topic="function" />
              {saved !== undefined && (
                <Button changes isSmall icon="trash" onClick={() => setRemoving(true)}>
                  Remove
                </Button>
              )}
              <Button
                changes
                kind="primary"
                isSmall
                icon="check"
                isDisabled={!edits.isChanged}
                onClick={save}
              >
                Save
              </Button>
            </div>
            <Editor
              label="Code of the function"
              value={code}
              onChange={next => {
                edits.set("function", next);
                setFault("");
              }}
              check={checkNothing}
              faults={faults}
            />
            {fault && (
              <div class="card-foot">
                <Notice tone="bad">{fault}</Notice>
              </div>
            )}
          </>
        }
      >
        <FunctionTryPane trial={trial} />
        <FunctionResultPane trial={trial} />
      </Dock>
      <Failures subscription={subscription} />
      <Facts subscription={subscription} />
      {isRemoving && (
        <Confirm
          title="Remove the function?"
          action="Remove it"
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            edits.drop("function");
            resource.put(await headwater.subscriptions.update(id, { function: null }));
            toast("The function is removed.", "good");
          }}
        >
          <p>Its code is gone for good. Deliveries that have not been through it are sent as they are.</p>
        </Confirm>
      )}
    </div>
  );
}

/** How many events the saved function failed on, and the last of them. */
function Failures({ subscription }: EditedProps) {
  const { emitter_id, function_errors: errors = 0, last_function_error: last } = subscription;
  if (errors === 0) return null;
  const isOneEmitter = /^(dc|p)_\w/.test(emitter_id);
  return (
    <Card title="Errors">
      <div class="stack tight">
        <p>
          It failed on {counted(errors, "event")} since it was saved. Retries use the function as it is by
          then.
        </p>
        {last && (
          <>
            <p class="fault">
              {last.message}
              {last.line !== null && ` (line ${last.line}, column ${last.column})`}
            </p>
            <p class="sub">
              <Time ms={last.at_ms} />, event{" "}
              {isOneEmitter ? (
                <a href={to(`/events/${emitter_id}/${last.event_id}`)}>{last.event_id}</a>
              ) : (
                last.event_id
              )}
            </p>
            <LogLines lines={last.logs} label="Log of the last error" />
          </>
        )}
      </div>
    </Card>
  );
}
