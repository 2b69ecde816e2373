import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { now } from "../lib/clock";
import { exactTime } from "../lib/format";
import { Copyable, Notice } from "../ui/basics";
import { Check, Field, Select, TextField } from "../ui/form";

type Prop = Schemas["ConfigurableProp"];
export type Values = Record<string, unknown>;

interface PropFormProps {
  props: Prop[];
  values: Values;
  onChange: (values: Values) => void;
  /** Faults by the name of the prop. */
  faults: Record<string, string>;
  /** What the source has; null while it does not exist. */
  stored: Stored | null;
}

interface Stored {
  /** Names of the props that have a secret. */
  secrets: string[];
  values: Values;
  nextTickMs: number | null;
}

/** What needs no value of the user's. */
const HIDDEN = new Set(["$.service.db", "alert"]);

/** A form made from the props of a component (docs/component-api.md#props). */
export const PropForm = ({ props, values, onChange, faults, stored }: PropFormProps) => (
  <>
    {props
      .filter(prop => !HIDDEN.has(prop.type) && prop.hidden !== true)
      .map(prop => (
        <PropField
          key={prop.name}
          prop={prop}
          value={values[prop.name]}
          fault={faults[prop.name]}
          stored={stored}
          onChange={value => onChange({ ...values, [prop.name]: value })}
        />
      ))}
  </>
);

interface PropFieldProps {
  prop: Prop;
  value: unknown;
  fault: string | undefined;
  stored: Stored | null;
  onChange: (value: unknown) => void;
}

function PropField({ prop, value, fault, stored, onChange }: PropFieldProps) {
  const label = `${prop.label ?? prop.name}${prop.optional === true ? " (optional)" : ""}`;
  const hint = prop.description;
  if (prop.type === "$.interface.timer") {
    if (prop.static !== undefined) {
      return <FixedTimer label={label} value={prop.static} nextTickMs={stored?.nextTickMs ?? null} />;
    }
    const isStored = JSON.stringify(value) === JSON.stringify(stored?.values[prop.name]);
    return (
      <TimerField
        label={label}
        value={value ?? prop.default}
        fault={fault}
        nextTickMs={isStored ? (stored?.nextTickMs ?? null) : null}
        onChange={onChange}
      />
    );
  }
  if (prop.static !== undefined) return <FixedField label={label} value={prop.static} />;
  if (prop.type === "$.interface.http") {
    const url = (value as { endpoint_url?: string } | undefined)?.endpoint_url;
    return (
      <div class="field">
        <span class="label">{label}</span>
        {url ? (
          <Copyable text={url} label="endpoint address" />
        ) : (
          <span class="hint">Its address is made when it is deployed.</span>
        )}
      </div>
    );
  }
  if (prop.secret === true) {
    return (
      <SecretField
        label={label}
        hint={hint}
        value={value}
        fault={fault}
        isSet={stored?.secrets.includes(prop.name) ?? false}
        onChange={onChange}
      />
    );
  }
  if (prop.type === "app") {
    return (
      <JsonField
        label={label}
        hint={`${secretState(stored?.secrets.includes(prop.name) ?? false)} Credentials, as {"$auth": {…}}.`}
        value={value}
        fault={fault}
        onChange={onChange}
      />
    );
  }
  const options = Array.isArray(prop.options) ? prop.options : null;
  if (options && !prop.type.endsWith("[]")) {
    const choices = options.map(one => {
      const isPair = typeof one === "object" && one !== null;
      const { label: text, value: inner } = (isPair ? one : { label: String(one), value: one }) as {
        label?: string;
        value: unknown;
      };
      return { value: JSON.stringify(inner), label: text ?? String(inner) };
    });
    return (
      <Select
        label={label}
        hint={hint}
        fault={fault}
        value={JSON.stringify(value ?? prop.default) ?? ""}
        choices={[{ value: "", label: "Choose …" }, ...choices]}
        onChange={text => onChange(text === "" ? null : JSON.parse(text))}
      />
    );
  }
  switch (prop.type) {
    case "string":
      return (
        <TextField
          label={label}
          hint={hint}
          fault={fault}
          value={typeof value === "string" ? value : ""}
          placeholder={typeof prop.default === "string" ? prop.default : ""}
          onInput={text => onChange(text === "" ? null : text)}
        />
      );
    case "integer":
      return (
        <TextField
          label={label}
          hint={hint}
          fault={fault}
          type="number"
          value={typeof value === "number" ? String(value) : ""}
          placeholder={prop.default === undefined ? "" : String(prop.default)}
          onInput={text => onChange(text === "" ? null : Number(text))}
        />
      );
    case "boolean":
      return (
        <div class="field">
          <Check label={label} isOn={Boolean(value ?? prop.default)} onChange={onChange} />
          {hint && <div class="hint">{hint}</div>}
        </div>
      );
    case "string[]":
      return <LinesField label={label} hint={hint} value={value} fault={fault} onChange={onChange} />;
    default:
      return (
        <JsonField
          label={label}
          hint={hint ?? "JSON"}
          value={value ?? prop.default}
          fault={fault}
          onChange={onChange}
        />
      );
  }
}

const FixedField = ({ label, value }: { label: string; value: unknown }) => (
  <Field label={label} hint="Fixed by the code.">
    {props => (
      <input
        {...props}
        class="input"
        disabled
        value={typeof value === "string" ? value : JSON.stringify(value)}
      />
    )}
  </Field>
);

interface FieldProps {
  label: string;
  hint?: string | undefined;
  value: unknown;
  fault: string | undefined;
  onChange: (value: unknown) => void;
}

function LinesField({ label, hint, value, fault, onChange }: FieldProps) {
  const [text, setText] = useState(Array.isArray(value) ? value.join("\n") : "");
  return (
    <TextField
      label={label}
      hint={`${hint ? `${hint} ` : ""}One value per line.`}
      fault={fault}
      isLong
      rows={3}
      value={text}
      onInput={given => {
        setText(given);
        const lines = given
          .split("\n")
          .map(one => one.trim())
          .filter(Boolean);
        onChange(lines.length > 0 ? lines : null);
      }}
    />
  );
}

function JsonField({ label, hint, value, fault, onChange }: FieldProps) {
  const [text, setText] = useState(
    value === undefined || value === null ? "" : JSON.stringify(value, null, 2),
  );
  const [syntax, setSyntax] = useState("");
  return (
    <TextField
      label={label}
      hint={hint}
      fault={syntax || fault}
      isLong
      rows={3}
      value={text}
      onInput={given => {
        setText(given);
        try {
          onChange(given.trim() === "" ? null : JSON.parse(given));
          setSyntax("");
        } catch {
          setSyntax("This is not JSON yet.");
        }
      }}
    />
  );
}

/** Whether a secret has a value is all that is shown of it. */
const secretState = (isSet: boolean): string =>
  isSet ? "Set, and never shown; leave this empty to keep it." : "Not set. Stored encrypted, never shown.";

function SecretField({ label, hint, value, fault, isSet, onChange }: FieldProps & { isSet: boolean }) {
  const state = secretState(isSet);
  return (
    <TextField
      label={label}
      hint={hint ? `${hint} ${state}` : state}
      fault={fault}
      type="password"
      autocomplete="off"
      placeholder={isSet ? "••••••••" : "not set"}
      value={typeof value === "string" ? value : ""}
      onInput={text => onChange(text === "" ? undefined : text)}
    />
  );
}

interface Timer {
  cron?: string | null;
  timezone?: string | null;
  intervalSeconds?: number;
  interval_seconds?: number | null;
}

/** With the one that is set: a zone may have further names, which the browser does not list. */
const zones = (current: string): string[] => [
  ...new Set(["UTC", current, ...Intl.supportedValuesOf("timeZone")]),
];

interface TimerFieldProps extends FieldProps {
  /** When the timer is due next; null if it is not stored like this, or is off. */
  nextTickMs: number | null;
}

/** A timer in the form of the code or of a response, with the defaults of the server. */
function readTimer(value: unknown) {
  const given = (value ?? {}) as Timer;
  return {
    isCron: typeof given.cron === "string",
    seconds: given.intervalSeconds ?? given.interval_seconds ?? 900,
    cron: given.cron ?? "",
    timezone: given.timezone ?? "UTC",
  };
}

/** A timer that the code fixes: nothing to change, and when it is due all the same. */
function FixedTimer({ label, value, nextTickMs }: Omit<TimerFieldProps, "fault" | "onChange">) {
  const { isCron, seconds, cron, timezone } = readTimer(value);
  return (
    <fieldset class="timer">
      <legend>{label}</legend>
      <FixedField
        label={isCron ? `Cron expression, in ${timezone}` : "Every … seconds"}
        value={isCron ? cron : seconds}
      />
      {isCron ? (
        <NextFires cron={cron} timezone={timezone} />
      ) : (
        <NextTicks seconds={seconds} fromMs={nextTickMs} />
      )}
    </fieldset>
  );
}

function TimerField({ label, value, fault, nextTickMs, onChange }: TimerFieldProps) {
  const { isCron, seconds, cron, timezone } = readTimer(value);
  return (
    <fieldset class="timer">
      <legend>{label}</legend>
      <Select
        label="Runs"
        value={isCron ? "cron" : "interval"}
        choices={[
          { value: "interval", label: "at an interval" },
          { value: "cron", label: "by a cron expression" },
        ]}
        onChange={kind =>
          onChange(kind === "cron" ? { cron: "*/15 * * * *", timezone } : { intervalSeconds: 900 })
        }
      />
      {isCron ? (
        <>
          <TextField
            label="Cron expression"
            hint="Minute, hour, day of the month, month, day of the week."
            fault={fault}
            value={cron}
            onInput={text => onChange({ cron: text, timezone })}
          />
          <Select
            label="Time zone"
            value={timezone}
            choices={zones(timezone).map(zone => ({ value: zone, label: zone }))}
            onChange={zone => onChange({ cron, timezone: zone })}
          />
          <NextFires cron={cron} timezone={timezone} />
        </>
      ) : (
        <>
          <TextField
            label="Every … seconds"
            type="number"
            fault={fault}
            value={String(seconds)}
            onInput={text => onChange({ intervalSeconds: Number(text) })}
          />
          <NextTicks seconds={seconds} fromMs={nextTickMs} />
        </>
      )}
    </fieldset>
  );
}

/** The next five times of a cron expression, in its zone; by the package that the server uses, loaded when needed. */
function NextFires({ cron, timezone }: { cron: string; timezone: string }) {
  const [times, setTimes] = useState<number[] | null>([]);
  useEffect(() => {
    let isCurrent = true;
    void import("../lib/next-fires").then(({ nextFires }) => {
      if (isCurrent) setTimes(nextFires(cron, timezone));
    });
    return () => {
      isCurrent = false;
    };
  }, [cron, timezone]);
  if (times === null) return <Notice tone="warn">This is not a cron expression yet.</Notice>;
  return <Times label="Next five times" times={times} timezone={timezone} />;
}

/** The next five times of an interval, from its next tick on; one that is not stored yet begins when it is saved. */
function NextTicks({ seconds, fromMs }: { seconds: number; fromMs: number | null }) {
  if (!(seconds >= 1)) return <Notice tone="warn">An interval has at least one second.</Notice>;
  const step = seconds * 1000;
  const past = fromMs === null ? 0 : Math.max(0, Math.ceil((now.value - fromMs) / step));
  const first = fromMs === null ? now.value : fromMs + past * step;
  const times = Array.from({ length: 5 }, (_, i) => first + i * step);
  return (
    <Times label={fromMs === null ? "If it were saved now" : "Next five times"} times={times} withSeconds />
  );
}

interface TimesProps {
  label: string;
  times: number[];
  /** The reader's by default. */
  timezone?: string;
  withSeconds?: boolean;
}

const Times = ({ label, times, timezone, withSeconds = false }: TimesProps) => (
  <div class="field">
    <span class="label">{label}</span>
    <ol class="sub" aria-label={label}>
      {times.map(time => (
        <li key={time} title={exactTime(time)}>
          {inZone(time, timezone, withSeconds)}
        </li>
      ))}
    </ol>
  </div>
);

const inZone = (ms: number, timeZone: string | undefined, withSeconds: boolean): string =>
  new Intl.DateTimeFormat(undefined, {
    ...(timeZone !== undefined && { timeZone }),
    ...(withSeconds && { second: "2-digit" }),
    weekday: "short",
    dateStyle: undefined,
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  }).format(ms);
