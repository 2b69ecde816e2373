import { useEffect, useState } from "preact/hooks";
import { now } from "../lib/clock";
import { exactTime } from "../lib/format";
import { Notice } from "../ui/basics";
import { FixedField, Select, TextField } from "../ui/form";
import { NumberField } from "../ui/number-field";

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

interface TimerFieldProps {
  label: string;
  value: unknown;
  fault: string | undefined;
  onChange: (value: unknown) => void;
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
export function FixedTimer({ label, value, nextTickMs }: Omit<TimerFieldProps, "fault" | "onChange">) {
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

/** An interval, or a cron expression with its zone, and when it is due next. */
export function TimerField({ label, value, fault, nextTickMs, onChange }: TimerFieldProps) {
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
            hint="Minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly and the like."
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
          <NumberField
            label="Every … seconds"
            fault={fault}
            value={seconds === 0 ? null : seconds}
            onInput={number => onChange({ intervalSeconds: number ?? 0 })}
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
    hourCycle: "h23",
    minute: "2-digit",
    timeZoneName: "short",
  }).format(ms);
