import { type Static, Type } from "typebox";
import { LIMITS } from "../limits/catalogue.ts";
import { TextFilter } from "../store/text-filter.ts";

const Json = Type.Unknown();

export const ConfigurableProp = Type.Object(
  {
    name: Type.String(),
    type: Type.String(),
    label: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    default: Type.Optional(Json),
  },
  { additionalProperties: true, title: "ConfigurableProp" },
);

export const TypeOfComponent = Type.Union([Type.Literal("source"), Type.Literal("action")], {
  description: "What it is deployed as: a source, or an action, which is a destination (docs/actions.md).",
});

/** What selects components of a list. */
export const ComponentFilter = Type.Object({
  type: Type.Optional(TypeOfComponent),
  q: TextFilter("their name, key, address or id"),
});
export type ComponentFilter = Static<typeof ComponentFilter>;

/** What a component says of itself in its code, in its own view and in those of its sources. */
export const OwnWords = {
  description: Type.Union([Type.String(), Type.Null()], {
    description: "The `description` of the component's code.",
  }),
  dedupe: Type.Union([Type.Literal("unique"), Type.Literal("greatest"), Type.Literal("last"), Type.Null()], {
    description: "How events are told apart by their id (docs/component-api.md#dedupe); null: not at all.",
  }),
  remember: Type.Union([Type.Integer(), Type.Null()], {
    description: "How many ids `unique` remembers, if the code says; null: 100.",
  }),
};

/** A component as the API shows it (docs/rest-api.md#component). */
export const ComponentSchema = Type.Object(
  {
    id: Type.String(),
    code: Type.String(),
    code_hash: Type.String(),
    type: TypeOfComponent,
    name: Type.String(),
    version: Type.String(),
    key: Type.Union([Type.String(), Type.Null()]),
    component_url: Type.Union([Type.String(), Type.Null()]),
    ...OwnWords,
    configurable_props: Type.Array(ConfigurableProp),
    additional_props: Type.Boolean({
      description: "True if its code makes further props, which `POST /components/{id}/props` gets.",
    }),
    owner_id: Type.String({
      description:
        "Its owner: a user or an organization; `registry` for one that the operator published from files, `headwater` for one of the gallery, `gallery-…` for one of an index that the operator added to it.",
    }),
    published: Type.Boolean({ description: "True if every account can use it, by its key too." }),
    created_at: Type.Integer(),
    updated_at: Type.Integer(),
  },
  { title: "Component" },
);

export const ComponentCode = Type.String({
  minLength: 1,
  maxLength: 1_000_000,
  description:
    "Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved.",
});

export const ComponentUrl = Type.String({
  minLength: 1,
  maxLength: LIMITS.urlCharacters.value,
  description:
    "Address of the code. Relative imports are followed; for a GitHub blob URL, the raw file is fetched.",
});

/** The fields of a request that have the code of a component. */
export const CODE_FIELDS = {
  component_code: Type.Optional(ComponentCode),
  files: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      minProperties: 1,
      maxProperties: 2 * LIMITS.modules.value,
      description:
        "Instead of `component_code`: the files of a component, their texts by path (`lib/app.mjs`). They import each other by " +
        "relative path; a `package.json` among them says which versions of packages they want.",
    }),
  ),
  entry: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Of `files`: the path of the file that exports the component.",
    }),
  ),
  component_url: Type.Optional(ComponentUrl),
};

/** The own files of a component (docs/rest-api.md#components). */
export const ComponentFiles = Type.Object(
  {
    files: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
      description:
        "Their texts by path; empty if the `code` of the component is all of it, and null if it was saved by a release that kept no " +
        "other files: then save it again from where they are.",
    }),
    entry: Type.Union([Type.String(), Type.Null()], {
      description: "The path of the file that exports the component; null without files.",
    }),
  },
  { title: "ComponentFiles" },
);
