import { isUtf8 } from "node:buffer";
import { type Static, type TObject, Type } from "typebox";
import { data, routeFor } from "../../http/route.ts";
import { OrNull } from "../../lib/schemas.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Calling } from "../../platform.ts";
import type { HttpResponse } from "../../sandbox/protocol.ts";
import { typeOf } from "../code-traits.ts";
import { componentToRun } from "../components.ts";
import { CODE_SOURCES } from "../given-files.ts";
import { EmitSchema, ownWords, presentEmit, presentProps } from "../present.ts";
import { CODE_FIELDS, ComponentSchema, OwnWords, TypeOfComponent } from "../schema.ts";
import { describeCode, type Tried, type TryRequest, tryCode, tryComponent } from "./try-code.ts";

const route = routeFor<Calling>();
const tag = "Components";

const Json = Type.Unknown();
const place = {
  line: OrNull(Type.Integer(), "In the code, from 1; null if it is not known."),
  column: OrNull(Type.Integer(), "From 1."),
  file: OrNull(Type.String(), "Path of the file, of a component that has several; null if it is not known."),
};

const DescribedCode = Type.Object(
  {
    ok: Type.Boolean({ description: "True if it can be saved." }),
    errors: Type.Array(
      Type.Object({
        path: Type.String({
          description:
            "Such as `props.timer.type`; the field of the request, such as `component_code`, for the code as a whole.",
        }),
        message: Type.String(),
        ...place,
      }),
    ),
    component: Type.Union([
      Type.Object({
        type: TypeOfComponent,
        name: Type.String(),
        version: Type.String(),
        key: OrNull(Type.String()),
        ...OwnWords,
        configurable_props: ComponentSchema.properties.configurable_props,
        additional_props: ComponentSchema.properties.additional_props,
        packages: Type.Record(Type.String(), Type.String(), {
          description: "Pinned versions of npm packages by the text of the import.",
        }),
        hooks: Type.Array(Type.String()),
        uses_respond: Type.Boolean({ description: "True if an HTTP response may wait for it." }),
        sample_emit: Type.Boolean({
          description: "True if it has a `sampleEmit`, an event to try things with.",
        }),
      }),
      Type.Null(),
    ]),
  },
  { title: "DescribedCode" },
);

const TriedCode = Type.Object(
  {
    ok: Type.Boolean({ description: "True if the run threw no error." }),
    emits: Type.Array(EmitSchema),
    emits_left_out: Type.Integer({ description: "How many more it emitted than are shown (1 MB)." }),
    logs: Type.Array(Type.Object({ level: Type.String(), message: Type.String(), ts: Type.Integer() })),
    response: Type.Union([
      Type.Object({
        status: Type.Integer(),
        headers: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
        body: OrNull(Type.String(), "The first 64 KB; null if it is not text."),
      }),
      Type.Null(),
    ]),
    error: Type.Union([
      Type.Object({ code: Type.String(), message: Type.String(), stack: Type.String(), ...place }),
      Type.Null(),
    ]),
    db: Type.Union([Type.Record(Type.String(), Json), Type.Null()], {
      description: "What `$.service.db` holds afterwards; null if that is over 1 MB.",
    }),
    ms: Type.Number({ description: "Duration of the run." }),
    cpu_ms: Type.Number(),
  },
  { title: "TriedCode" },
);

/** With what code is run once. */
const TRY_FIELDS = {
  configured_props: Type.Optional(Type.Record(Type.String(), Json)),
  event: Type.Optional(Json),
  sample_emit: Type.Optional(
    Type.Boolean({
      description: "True: the component's `sampleEmit` is emitted, or what it returns; `run` is not called.",
    }),
  ),
  db: Type.Optional(
    Type.Record(Type.String(), Json, {
      description: "What `$.service.db` holds before; empty by default.",
    }),
  ),
};

const SHOWN_BODY_BYTES = 64 * 1024;

function presentResponse({ status, headers, bodyBase64 }: HttpResponse) {
  const body = Buffer.from(bodyBase64, "base64");
  // Cut only after the check: a cut may split a character.
  const text = isUtf8(body) ? body.subarray(0, SHOWN_BODY_BYTES).toString("utf8") : null;
  return { status, headers, body: text };
}

type TryBody = Partial<Static<TObject<typeof TRY_FIELDS>>>;

const requestOf = ({ configured_props, event, sample_emit, db }: TryBody): TryRequest => ({
  configuredProps: configured_props,
  event: event ?? {},
  isSample: sample_emit ?? false,
  db: db ?? {},
});

const presentTried = (tried: Tried) => ({
  ok: tried.error === null,
  emits: tried.emits.map(presentEmit),
  emits_left_out: tried.emitsLeftOut,
  logs: tried.logs,
  response: tried.response && presentResponse(tried.response),
  error: tried.error,
  db: tried.db,
  ms: tried.durationMs,
  cpu_ms: tried.cpuMs,
});

const code =
  'export default { name: "Hello", version: "0.0.1", key: "hello-http", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };';

const exampleDescribed: Static<typeof DescribedCode> = {
  ok: true,
  errors: [],
  component: {
    type: "source",
    name: "Hello",
    version: "0.0.1",
    key: "hello-http",
    description: null,
    dedupe: null,
    remember: null,
    configurable_props: [{ name: "http", type: "$.interface.http" }],
    additional_props: false,
    packages: {},
    hooks: [],
    uses_respond: false,
    sample_emit: false,
  },
};

const exampleTried: Static<typeof TriedCode> = {
  ok: true,
  emits: [{ event: { hello: "world" }, name: "", id: null, summary: null, ts: null }],
  emits_left_out: 0,
  logs: [],
  response: null,
  error: null,
  db: {},
  ms: 1.2,
  cpu_ms: 1,
};

/** Code that is looked at, or run once, and not stored: what an editor needs. */
export const trialRoutes = [
  route({
    method: "POST",
    path: "/components/describe",
    id: "describeCode",
    audit: null,
    tag,
    summary: "Check code without saving it",
    description: "What is wrong with the code is in `errors`, with its line, and not a 400.",
    access: { kind: "owner" },
    body: Type.Object(CODE_FIELDS),
    maxBodyBytes: LIMITS.componentBodyBytes.value,
    requiresOneOf: CODE_SOURCES,
    response: data(200, DescribedCode),
    errors: ["unavailable"],
    example: { body: { component_code: code }, response: exampleDescribed },
    handler: async ({ deps, body, owner }) => {
      const found = await describeCode(deps, owner, body);
      if ("errors" in found) return { ok: false, errors: found.errors, component: null };
      const { description, packages } = found.built;
      return {
        ok: true,
        errors: [],
        component: {
          type: typeOf(description),
          name: description.name,
          version: description.version,
          key: description.key ?? null,
          ...ownWords(description),
          configurable_props: presentProps(description),
          additional_props: description.hasAdditionalProps === true,
          packages,
          hooks: description.hooks,
          uses_respond: description.usesRespond,
          sample_emit: description.hasSampleEmit === true,
        },
      };
    },
  }),
  route({
    method: "POST",
    path: "/components/try",
    id: "tryCode",
    audit: null,
    tag,
    summary: "Run code once without saving it",
    description:
      "In a sandbox of its own: what it emits goes nowhere, and its hooks are not called. It counts as a run. Code or props " +
      "that could not be saved are a 400.",
    access: { kind: "owner" },
    body: Type.Object({ ...CODE_FIELDS, ...TRY_FIELDS }),
    maxBodyBytes: LIMITS.componentBodyBytes.value,
    requiresOneOf: CODE_SOURCES,
    response: data(200, TriedCode),
    errors: ["unavailable"],
    example: { body: { component_code: code, event: { body: { hello: "world" } } }, response: exampleTried },
    handler: async ({ deps, body, owner }) => presentTried(await tryCode(deps, owner, body, requestOf(body))),
  }),
  route({
    method: "POST",
    path: "/components/{id}/try",
    id: "tryComponent",
    audit: null,
    tag,
    summary: "Run a saved component once without deploying it",
    description:
      "As `POST /components/try`, and without building anything: what a source of it would emit, before there is one. It counts " +
      "as a run.",
    access: componentToRun,
    body: Type.Object(TRY_FIELDS),
    response: data(200, TriedCode),
    errors: ["unavailable"],
    example: {
      params: { id: "sc_0CjB8zQw2MnP5vTa" },
      body: { configured_props: {}, sample_emit: true },
      response: exampleTried,
    },
    handler: async ({ deps, resource, body, owner }) =>
      presentTried(await tryComponent(deps, owner, resource, requestOf(body))),
  }),
];
