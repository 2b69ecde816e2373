import { useState } from "preact/hooks";
import { ApiError, headwater, messageOf, type Schemas } from "../api/client";
import { asRead, saveEdits, useEdits } from "../api/edits";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { Badge, Button, Notice, Time } from "../ui/basics";
import { Clashes } from "../ui/clashes";
import { Dialog } from "../ui/dialog";
import { Field, Form, TextField } from "../ui/form";
import { HelpLink } from "../ui/help-link";
import { ThingField } from "../ui/thing-field";
import { toast } from "../ui/toasts";

type Subscription = Schemas["Subscription"];

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
export function SubscriptionEditor({ subscription, first, onClose, onSaved }: EditorProps) {
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
          write: now => headwater.subscriptions.update(id, { filter: given ?? null }, now && asRead(now)),
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
          hint={
            <>
              Only events that match are carried; empty for all. <HelpLink topic="filter" />
            </>
          }
        />
        {result && <TestResult result={result} emitter={emitter} />}
        <div class="row end">
          <Button onClick={test} isDisabled={emitter === "" || emitter.endsWith("*")}>
            Test on the last events
          </Button>
          <span class="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button changes type="submit" kind="primary" isDisabled={emitter === "" || listener === ""}>
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
