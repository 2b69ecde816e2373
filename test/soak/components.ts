/** The code of the sources. Each event has a `key`, by which it is found at the receiver. */
const component = (name: string, rest: string): string =>
  `export default { name: "${name}", version: "0.0.1", ${rest} };`;

const HTTP = 'http: "$.interface.http"';

export const PLAIN = component("Plain", `props: { ${HTTP} }, run({ body }) { this.$emit(body); }`);

export const RESPONDING = component(
  "Responding",
  `props: { http: { type: "$.interface.http", customResponse: true } },
   run({ body }) { this.$emit(body); this.http.respond({ status: 200, body: { key: body.key } }); }`,
);

/** Counts its runs. */
export const COUNTING = component(
  "Counting",
  `props: { ${HTTP}, db: "$.service.db" },
   run({ body }) { const n = (this.db.get("n") ?? 0) + 1; this.db.set("n", n); this.$emit({ ...body, count: n }); }`,
);

export const DEDUPING = component(
  "Deduping",
  `dedupe: "unique", props: { ${HTTP} }, run({ body }) { this.$emit(body, { id: body.key }); }`,
);

/** Emits and then throws, for one event in `THROWS_EACH`. */
export const THROWS_EACH = 4;
export const THROWING = component(
  "Throwing",
  `props: { ${HTTP} },
   run({ body }) { this.$emit(body); if (body.n % ${THROWS_EACH} === 0) throw new Error("planned"); }`,
);

/** Listens to another source. */
export const HEARD = ">heard";
export const LISTENING = component(
  "Listening",
  `run(event) { this.$emit({ ...event, key: event.key + "${HEARD}" }); }`,
);

export const ticking = (intervalSeconds: number): string =>
  component(
    "Ticking",
    `props: { timer: { type: "$.interface.timer", default: { intervalSeconds: ${intervalSeconds} } } },
     run({ timestamp }) { this.$emit({ key: String(timestamp) }); }`,
  );

/** A version of a component that is updated while it runs; with hooks, so that the update takes its turn among the runs. */
export const versioned = (version: number): string =>
  component(
    `Versioned ${version}`,
    `props: { ${HTTP} }, hooks: { activate() {}, deactivate() {} },
     run({ body }) { this.$emit({ ...body, version: ${version} }); }`,
  );
