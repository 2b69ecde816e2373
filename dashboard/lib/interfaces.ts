/** Values of a source's props as the API shows them. Their names are their component's choice (docs/rest-api.md#source). */
type Shown = Record<string, unknown>;
type Fields = Record<string, unknown>;

const objectsOf = (props: Shown): Fields[] =>
  Object.values(props).filter((value): value is Fields => typeof value === "object" && value !== null);

/** The address at which a source receives requests; undefined without an HTTP interface. That of an apphook is its connection's. */
export function endpointOf(props: Shown): string | undefined {
  const http = objectsOf(props).find(fields => "endpoint_url" in fields && !("event_names" in fields));
  return http && String(http.endpoint_url);
}

/** What makes a source run, in a few words. */
export function triggerOf(props: Shown): string {
  // A viewer sees no address: the usual name says it then.
  const isHidden = typeof props.http === "object" && props.http !== null;
  if (isHidden || endpointOf(props) !== undefined) return "HTTP";
  const objects = objectsOf(props);
  const { cron, interval_seconds } = objects.find(fields => fields.cron || fields.interval_seconds) ?? {};
  if (cron) return `cron ${cron}`;
  if (interval_seconds) return `every ${every(Number(interval_seconds))}`;
  return objects.some(fields => "event_names" in fields) ? "app" : "events";
}

const every = (seconds: number) =>
  seconds % 60 === 0 && seconds >= 60 ? `${seconds / 60} min` : `${seconds} s`;
