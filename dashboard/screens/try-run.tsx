import { useMemo, useRef, useState } from "preact/hooks";
import { messageOf, type Schemas } from "../api/client";
import { type Code, codeBody, isSameCode } from "../api/code";
import type { Values } from "../api/configure";
import { inAccount } from "../api/session";
import { duration } from "../lib/format";
import { useRunKey } from "../lib/run-key";
import { Badge, Button, CopyBlock, Notice } from "../ui/basics";
import { Pane } from "../ui/dock";
import { TextField } from "../ui/form";
import { JsonTree } from "../ui/json-tree";
import { LogLines } from "../ui/log-lines";
import { placed } from "./description";
import { PropForm } from "./prop-form";

type Prop = Schemas["ConfigurableProp"];
type Tried = Schemas["TriedCode"];

/** The fault of the last run of this code, for the editor; none as soon as the code is another. */
export function useRunFault(code: Code, file = "") {
  const [ran, setRan] = useState<Ran | null>(null);
  const thrown = ran && isSameCode(ran.code, code) ? ran.error : null;
  const error = thrown && (thrown.file ?? code.entry) === file ? thrown : null;
  const faults = useMemo(
    () => (error ? [{ message: `${error.code}: ${error.message}`, line: error.line, column: null }] : []),
    [error],
  );
  return { faults, setRan };
}

/** Code that was run, and how it failed. */
interface Ran {
  code: Code;
  error: Tried["error"];
}

/** An event to begin with: what a timer gives where the code has one and no endpoint, else a request. */
function exampleFor({ files }: Code): string {
  const has = (type: string) => Object.values(files).some(text => text.includes(type));
  return has("$.interface.timer") && !has("$.interface.http")
    ? '{ "timestamp": 1795480440, "interval_seconds": 60 }'
    : '{ "method": "POST", "path": "/", "body": { "name": "world" } }';
}

interface TrialOf {
  code: Code;
  values: Values;
  /** The event to begin with, such as one on which a run failed. */
  event?: unknown;
  onRan: (ran: Ran) => void;
}

/** Runs code once in the sandbox without storing anything, with the values of the form and an event of the reader's. */
export function useTrial({ code, values, event: first, onRan }: TrialOf) {
  const [typed, setTyped] = useState<string | null>(null);
  const [added, setAdded] = useState<Values>({});
  const [isRunning, setRunning] = useState(false);
  const [result, setResult] = useState<Tried | null>(null);
  const [fault, setFault] = useState("");
  const runs = useRef(0);
  // Until it is typed, it is that of the code as it is.
  const event = typed ?? (first === undefined ? exampleFor(code) : JSON.stringify(first, null, 2));
  const clear = () => {
    setResult(null);
    setFault("");
  };
  const run = async (isSample = false) => {
    runs.current += 1;
    const own = runs.current;
    /** The run that began last is shown, whichever ends last. */
    const isShown = () => own === runs.current;
    clear();
    setRunning(true);
    try {
      const parsed: unknown = event.trim() === "" || isSample ? undefined : JSON.parse(event);
      const tried = await inAccount().components.try({
        ...codeBody(code),
        configured_props: { ...added, ...values },
        ...(isSample ? { sample_emit: true } : { event: parsed }),
      });
      if (!isShown()) return;
      setResult(tried);
      onRan({ code, error: tried.error });
    } catch (error) {
      if (isShown()) setFault(messageOf(error));
    } finally {
      if (isShown()) setRunning(false);
    }
  };
  useRunKey(() => run());
  return {
    event,
    setEvent: setTyped,
    added,
    add: (name: string, value: unknown) => setAdded(latest => ({ ...latest, [name]: value })),
    run,
    isRunning,
    result,
    fault,
    /** For other code: what was typed and what came of it are gone. */
    reset: () => {
      runs.current += 1;
      setTyped(null);
      setRunning(false);
      clear();
    },
  };
}

type Trial = ReturnType<typeof useTrial>;

/** Whether a run needs a value that is not known: the dashboard never gets a secret that is set. */
const isUnknown = (prop: Prop, values: Values) =>
  !(prop.name in values) &&
  prop.optional !== true &&
  prop.default === undefined &&
  prop.static === undefined &&
  !prop.type.startsWith("$.") &&
  prop.type !== "alert";

interface ValuesPaneProps {
  trial: Trial;
  /** What the code asks for. */
  props: Prop[];
  /** What is deployed. */
  values: Values;
}

/** The values of one run: those that are deployed, and fields for those that are not known, which are stored nowhere. */
export function ValuesPane({ trial: { added, add }, props, values }: ValuesPaneProps) {
  const asked = props.filter(prop => isUnknown(prop, values));
  const known = props.filter(({ name }) => name in values);
  if (asked.length + known.length === 0) return null;
  return (
    <Pane title="Props">
      <div class="stack tight">
        {asked
          .filter(prop => prop.secret === true)
          .map(({ name, label }) => (
            <TextField
              key={name}
              label={label ?? name}
              hint="For this run only: a secret that is set is not shown."
              type="password"
              autocomplete="off"
              value={String(added[name] ?? "")}
              onInput={text => add(name, text)}
            />
          ))}
        <PropForm
          props={asked.filter(prop => prop.secret !== true)}
          values={added}
          faults={{}}
          stored={null}
          onChange={add}
        />
        {known.length > 0 && (
          <dl class="facts">
            {known.map(({ name, label }) => (
              <>
                <dt key={name}>{label ?? name}</dt>
                <dd>
                  <code>{textOf(values[name])}</code>
                </dd>
              </>
            ))}
          </dl>
        )}
      </div>
    </Pane>
  );
}

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

interface TryPaneProps {
  trial: Trial;
  /** Whether the code has a `sampleEmit`. */
  hasSample: boolean;
}

/** The event of a run, and what starts one. */
export const TryPane = ({ trial: { event, setEvent, run }, hasSample }: TryPaneProps) => (
  <Pane title="Try it">
    <div class="stack tight">
      <div class="row">
        <Button changes kind="primary" icon="play" onClick={() => run()}>
          Run once
        </Button>
        <kbd>Ctrl Enter</kbd>
        {hasSample && (
          <Button changes icon="zap" onClick={() => run(true)}>
            Emit the sample
          </Button>
        )}
      </div>
      <TextField
        label="Event"
        isLong
        rows={4}
        value={event}
        onInput={setEvent}
        hint="What run() receives, as JSON; empty is {}."
      />
    </div>
  </Pane>
);

/** What came of the last run. */
export const ResultPane = ({ trial: { result, fault, isRunning } }: { trial: Trial }) => (
  <Pane title="Result">
    <div role="status">
      {isRunning && <p class="muted">Running …</p>}
      {fault && <Notice tone="bad">{fault}</Notice>}
      {result && <Outcome result={result} />}
      {!isRunning && !fault && !result && (
        <p class="muted">What a run logs, emits and responds. Nothing of it is stored.</p>
      )}
    </div>
  </Pane>
);

/** What one run logged, emitted and responded. */
export const Outcome = ({ result }: { result: Tried }) => (
  <div class="stack tight">
    <div class="row">
      <Badge tone={result.ok ? "good" : "bad"}>{result.ok ? "Ran" : "Failed"}</Badge>
      <span class="muted">{duration(result.ms)}</span>
    </div>
    {result.error && (
      <Notice tone="bad">
        {result.error.code}: {result.error.message}
        {result.error.line !== null && ` (${placed(result.error)})`}
      </Notice>
    )}
    <LogLines lines={result.logs} />
    {result.emits_left_out > 0 && <p class="muted">{result.emits_left_out} more events are not shown.</p>}
    {result.emits.map((one, i) => (
      <div key={i} class="card pad">
        <div class="row">
          <Badge tone={one.name ? "accent" : "none"}>{one.name || "default"}</Badge>
          <span class="sub">{one.summary}</span>
        </div>
        <JsonTree value={one.event} />
      </div>
    ))}
    {result.emits.length === 0 && result.ok && <p class="muted">It emitted nothing.</p>}
    {result.response && <CopyBlock text={JSON.stringify(result.response, null, 2)} label="Response" />}
  </div>
);
