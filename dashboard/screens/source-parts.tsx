import type { Schemas } from "../api/client";
import { Badge } from "../ui/basics";

/** What the command that makes a first source sends. */
export const FIRST_SOURCE = {
  name: "hello",
  component_code:
    "export default { name: 'Hello', version: '0.0.1', props: { http: '$.interface.http' }, run(event) { this.$emit(event.body) } }",
};

/** What makes a source run, in a few words. */
export function triggerOf({ configured_props: props }: Schemas["Source"]): string {
  // A viewer sees no address in it.
  if (typeof props.http === "object" && props.http !== null) return "HTTP";
  const timer = props.timer as { cron?: string | null; interval_seconds?: number | null } | undefined;
  if (timer?.cron) return `cron ${timer.cron}`;
  if (timer?.interval_seconds) return `every ${every(timer.interval_seconds)}`;
  return Object.values(props).some(isApphook) ? "app" : "events";
}

const isApphook = (value: unknown) => typeof value === "object" && value !== null && "event_names" in value;

const every = (seconds: number) =>
  seconds % 60 === 0 && seconds >= 60 ? `${seconds / 60} min` : `${seconds} s`;

/** Whether a source runs. */
export const SourceBadge = ({ source: { active } }: { source: Pick<Schemas["Source"], "active"> }) => (
  <Badge tone={active ? "good" : "none"}>{active ? "Active" : "Inactive"}</Badge>
);
