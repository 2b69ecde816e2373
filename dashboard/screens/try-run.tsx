import { useMemo, useRef, useState } from "preact/hooks";
import { messageOf, type Schemas } from "../api/client";
import { type Code, codeBody, isSameCode } from "../api/code";
import type { Values } from "../api/configure";
import { inAccount } from "../api/session";
import { duration } from "../lib/format";
import { Badge, Button, Card, CopyBlock, Notice } from "../ui/basics";
import { TextField } from "../ui/form";
import { JsonTree } from "../ui/json-tree";
import { LogLines } from "../ui/log-lines";
import { Prose } from "../ui/prose";
import { PropForm } from "./prop-form";

/** What the code in an editor is, as it was checked last. `check` is for the editor. */
export function useDescription() {
  const [described, setDescribed] = useState<Described | null>(null);
  const latest = useRef<Code | null>(null);
  const check = async (code: Code, file = "") => {
    latest.current = code;
    const found = await inAccount().components.describe(codeBody(code));
    // Code that can't be parsed is described in no time, and what was there before it may come later.
    if (latest.current === code) setDescribed(found);
    return found.errors.filter(error => (error.file ?? code.entry) === file);
  };
  return { described, check };
}

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
const exampleFor = ({ files }: Code): string =>
  JSON.stringify(files).includes("$.interface.timer") && !JSON.stringify(files).includes("$.interface.http")
    ? '{ "timestamp": 1795480440, "interval_seconds": 60 }'
    : '{ "method": "POST", "path": "/", "body": { "name": "world" } }';

type Prop = Schemas["ConfigurableProp"];
type Described = Schemas["DescribedCode"];
type Tried = Schemas["TriedCode"];

/** Whether a run needs a value that is not known: the dashboard never gets a secret that is set. */
const isUnknown = (prop: Prop, values: Values) =>
  !(prop.name in values) &&
  prop.optional !== true &&
  prop.default === undefined &&
  prop.static === undefined &&
  !prop.type.startsWith("$.") &&
  prop.type !== "alert";

interface TrialValuesProps {
  props: Prop[];
  values: Values;
  onChange: (name: string, value: unknown) => void;
}

/** Values for one run, which are stored nowhere. */
const TrialValues = ({ props, values, onChange }: TrialValuesProps) => (
  <>
    {props
      .filter(prop => prop.secret === true)
      .map(({ name, label }) => (
        <TextField
          key={name}
          label={label ?? name}
          hint="For this run only: a secret that is set is not shown."
          type="password"
          autocomplete="off"
          value={String(values[name] ?? "")}
          onInput={text => onChange(name, text)}
        />
      ))}
    <PropForm
      props={props.filter(prop => prop.secret !== true)}
      values={values}
      faults={{}}
      stored={null}
      onChange={onChange}
    />
  </>
);

/** Runs code once in the sandbox without storing anything, with the values of the form and an event of the reader's. */
export function TryRun({
  code,
  values,
  props = [],
  hasSample,
  event: first,
  onRan,
}: {
  code: Code;
  values: Values;
  /** What the code asks for; values that are missing are asked for here. */
  props?: Prop[];
  /** Whether the code has a `sampleEmit`. */
  hasSample: boolean;
  /** The event to begin with, such as one on which a run failed. */
  event?: unknown;
  onRan: (ran: Ran) => void;
}) {
  const [event, setEvent] = useState(first === undefined ? exampleFor(code) : JSON.stringify(first, null, 2));
  const [result, setResult] = useState<Tried | null>(null);
  const [fault, setFault] = useState("");
  const [added, setAdded] = useState<Values>({});
  const run = async (isSample: boolean) => {
    setFault("");
    setResult(null);
    try {
      const parsed: unknown = event.trim() === "" || isSample ? undefined : JSON.parse(event);
      const given = isSample ? { sample_emit: true } : { event: parsed };
      const tried = await inAccount().components.try({
        ...codeBody(code),
        configured_props: { ...added, ...values },
        ...given,
      });
      setResult(tried);
      onRan({ code, error: tried.error });
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <Card title="Try it">
      <div class="stack tight">
        <TextField
          label="Event"
          isLong
          rows={4}
          value={event}
          onInput={setEvent}
          hint="What run() receives, as JSON; empty is {}."
        />
        <TrialValues
          props={props.filter(prop => isUnknown(prop, values))}
          values={added}
          onChange={(name, value) => setAdded(latest => ({ ...latest, [name]: value }))}
        />
        <div class="row">
          <Button icon="play" onClick={() => run(false)}>
            Run once
          </Button>
          {hasSample && (
            <Button icon="zap" onClick={() => run(true)}>
              Emit the sample
            </Button>
          )}
        </div>
        {fault && <Notice tone="bad">{fault}</Notice>}
        {result && <Outcome result={result} />}
      </div>
    </Card>
  );
}

/** Such as `lib/app.mjs, line 3`; `word` begins it where there is one file. */
const placed = ({ file, line }: { file: string | null; line: number | null }, word = "line") =>
  `${file === null ? word : `${file}, line`} ${line}`;

const Outcome = ({ result }: { result: Tried }) => (
  <div class="stack tight" role="status">
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

/** The package of an import, which may name a version or a range of its own: `lodash` of `lodash@^4`. */
function packageOf(specifier: string): string {
  const at = specifier.indexOf("@", 1);
  return at === -1 ? specifier : specifier.slice(0, at);
}

/** What the code is: its name, its packages with the versions that are pinned, and what is wrong with it. */
export const About = ({ described }: { described: Described | null }) => {
  if (described === null) return null;
  const { component } = described;
  return (
    <Card title="Component">
      <div class="stack tight">
        {described.errors.map(one => (
          <Notice key={one.message} tone="bad">
            {one.line !== null && `${placed(one, "Line")}: `}
            {one.message}
          </Notice>
        ))}
        {component && (
          <p>
            <strong>{component.name}</strong> <span class="sub">{component.version}</span>
          </p>
        )}
        {component?.description && (
          <p class="muted">
            <Prose text={component.description} />
          </p>
        )}
        <div class="row">
          {Object.entries(component?.packages ?? {}).map(([name, version]) => (
            <Badge key={name} isPlain tone="info">
              {packageOf(name)}@{version}
            </Badge>
          ))}
        </div>
      </div>
    </Card>
  );
};
