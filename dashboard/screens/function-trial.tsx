import { useState } from "preact/hooks";
import { ApiError, messageOf, type Schemas } from "../api/client";
import { inAccount } from "../api/session";
import type { Fault } from "../editor/editor";
import { to } from "../lib/address";
import { counted, duration } from "../lib/format";
import { useRunKey } from "../lib/run-key";
import { Badge, Button, Notice, Time, type Tone } from "../ui/basics";
import { Pane } from "../ui/dock";
import { Field, TextField } from "../ui/form";
import { JsonTree } from "../ui/json-tree";
import { LogLines } from "../ui/log-lines";
import { ThingField } from "../ui/thing-field";

const PLACE = /line (\d+), column (\d+)/;

/** What is wrong with a function that was not accepted, as far as the error is about that; its place is in the text. */
export function faultsOf(error: unknown): Fault[] {
  const fields = error instanceof ApiError ? error.errors.filter(one => one.path === "function") : [];
  return fields.map(({ message }) => {
    const [line = null, column = null] = (PLACE.exec(message) ?? []).slice(1).map(Number);
    return { message, line, column };
  });
}

type Tried = Schemas["FunctionTest"]["results"][number];
type Subscription = Schemas["Subscription"];

interface TrialOf {
  code: string;
  subscription: Subscription;
  /** What is wrong with this code: why it is not accepted, or with what it failed on events. */
  onTried: (code: string, faults: Fault[]) => void;
}

interface Outcome {
  results: Tried[];
  /** Events that the subscription's filter leaves out. */
  leftOut: Set<string>;
  emitter: string;
}

/** Tries a function on the last events of the emitter, or on an event of the reader's: what is sent, and what is not. */
export function useFunctionTrial({ code, subscription, onTried }: TrialOf) {
  const { emitter_id, event_name, filter } = subscription;
  const isOneEmitter = !emitter_id.endsWith("*") && !emitter_id.startsWith("o_");
  const [emitter, setEmitter] = useState(isOneEmitter ? emitter_id : "");
  const [own, setOwn] = useState("");
  const [fault, setFault] = useState("");
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const attempt = async () => {
    setFault("");
    setOutcome(null);
    const { subscriptions } = inAccount();
    const of = { emitter_id: emitter, event_name };
    try {
      const events = own.trim() === "" ? {} : { events: [JSON.parse(own) as unknown] };
      const [{ results }, filtered] = await Promise.all([
        subscriptions.testFunction({ ...of, function: code, ...events }),
        filter ? subscriptions.testFilter({ ...of, filter }) : null,
      ]);
      const leftOut = (filtered?.results ?? []).filter(one => !one.matched).map(one => one.event_id);
      setOutcome({ results, leftOut: new Set(leftOut), emitter });
      onTried(
        code,
        results.flatMap(({ error }) => error ?? []),
      );
    } catch (error) {
      const faults = faultsOf(error);
      setFault(faults[0]?.message ?? messageOf(error));
      onTried(code, faults);
    }
  };
  const isReady = emitter !== "";
  useRunKey(() => isReady && attempt());
  return { isOneEmitter, emitter, setEmitter, own, setOwn, isReady, attempt, fault, outcome };
}

type Trial = ReturnType<typeof useFunctionTrial>;

/** Which events a function is tried on, and what starts that. */
export const FunctionTryPane = ({
  trial: { isOneEmitter, emitter, setEmitter, own, setOwn, isReady, attempt },
}: {
  trial: Trial;
}) => (
  <Pane title="Try it">
    <div class="stack tight">
      <div class="row">
        <Button changes icon="play" isDisabled={!isReady} onClick={attempt}>
          Try
        </Button>
        <kbd>Ctrl Enter</kbd>
      </div>
      {!isOneEmitter && (
        <Field label="Events of" hint="A source or a workflow; a name from the list, or an id.">
          {props => <ThingField {...props} kinds={["dc", "p"]} value={emitter} onChange={setEmitter} />}
        </Field>
      )}
      <TextField
        label="Event of your own"
        isLong
        rows={3}
        value={own}
        onInput={setOwn}
        hint="JSON; empty for the last 10 events of the channel. Nothing is sent."
      />
    </div>
  </Pane>
);

/** What a function made of them. */
export const FunctionResultPane = ({ trial: { fault, outcome } }: { trial: Trial }) => (
  <Pane title="Result">
    {fault && <Notice tone="bad">{fault}</Notice>}
    {outcome && <Results outcome={outcome} />}
    {!fault && !outcome && <p class="muted">What becomes of each event.</p>}
  </Pane>
);

function Results({ outcome: { results, leftOut, emitter } }: { outcome: Outcome }) {
  const sent = results.filter(one => !one.error && !one.dropped && !leftOut.has(one.event_id ?? ""));
  return (
    <div class="stack tight" role="status">
      <p>
        {results.length === 0
          ? "This channel has no events yet: give one of your own."
          : `${sent.length} of ${counted(results.length, "event")} would be sent.`}
      </p>
      {results.map((one, i) => (
        <Result
          key={one.event_id ?? i}
          tried={one}
          emitter={emitter}
          isLeftOut={leftOut.has(one.event_id ?? "")}
          isOpen={i === 0}
        />
      ))}
    </div>
  );
}

interface ResultProps {
  tried: Tried;
  emitter: string;
  isLeftOut: boolean;
  isOpen: boolean;
}

function whatBecomes({ tried: { error, dropped, event, result }, isLeftOut }: ResultProps): [Tone, string] {
  if (isLeftOut) return ["none", "left out by the filter"];
  if (error) return ["bad", "fails"];
  if (dropped) return ["warn", "not delivered"];
  return JSON.stringify(result) === JSON.stringify(event) ? ["good", "sent as it is"] : ["accent", "changed"];
}

/** An event before and after. */
function Result(props: ResultProps) {
  const { tried, emitter, isLeftOut, isOpen } = props;
  const { event_id, event, result, dropped, error, logs, ms } = tried;
  const [tone, label] = whatBecomes(props);
  return (
    <details class="tried" open={isOpen || error !== null}>
      <summary>
        <Badge tone={tone}>{label}</Badge>{" "}
        {event_id === null ? "your event" : <Time ms={Number(event_id.split("-")[0])} />}{" "}
        <span class="sub">{duration(ms)}</span>
      </summary>
      <div class="stack tight">
        {event_id !== null && <a href={to(`/events/${emitter}/${event_id}`)}>{event_id}</a>}
        <h3>Before</h3>
        <JsonTree value={event} />
        {!isLeftOut && <h3>After</h3>}
        {!isLeftOut && error && (
          <p class="fault">
            {error.message}
            {error.line !== null && ` (line ${error.line}, column ${error.column})`}
          </p>
        )}
        {!isLeftOut && dropped && <p class="muted">null: the event is not delivered.</p>}
        {!isLeftOut && !error && !dropped && <JsonTree value={result} />}
        <LogLines lines={logs} />
      </div>
    </details>
  );
}
