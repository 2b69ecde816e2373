import { Type } from "typebox";
import { data, routeFor } from "../http/route.ts";
import { OrNull } from "../lib/schemas.ts";
import { PRESETS, type Preset } from "../verify/presets.ts";

const route = routeFor<unknown>();

/** What there is to know of a preset before it is chosen (docs/verify.md#presets); its rule is in the release. */
const VerifyPreset = Type.Object(
  {
    name: Type.String({ description: "What `verify.preset` of a source says." }),
    title: Type.String({ description: "What people call the provider." }),
    secret: Type.String({ description: "Which of the provider's secrets it is." }),
    note: OrNull(Type.String(), "What a person should know who relies on it."),
    known: Type.Union([Type.Literal("run"), Type.Literal("read")], {
      description:
        "`run`: code of the provider signed or verified what it does; `read`: from what the provider has published.",
    }),
    has_timestamp: Type.Boolean({ description: "True if a source may say another `tolerance`." }),
    tolerance: OrNull(Type.Integer(), "Its own, in seconds; null: requests of any age."),
    version: Type.Integer({ description: "Increases with each change of its rule." }),
  },
  { title: "VerifyPreset" },
);

const VerifyPresets = Type.Object({ presets: Type.Array(VerifyPreset) }, { title: "VerifyPresets" });

const present = ([name, { title, secret, note, known, version, rule }]: [string, Preset]) => ({
  name,
  title,
  secret,
  note: note ?? null,
  known,
  has_timestamp: rule.timestamp !== undefined,
  tolerance: rule.timestamp?.tolerance ?? null,
  version,
});

/** Made once: they change with the release only. */
const presets = Object.entries(PRESETS).map(present);

export const presetRoutes = [
  route({
    method: "GET",
    path: "/verify/presets",
    id: "listVerifyPresets",
    tag: "Sources",
    summary: "List the presets by which requests are verified",
    description: "The providers whose way to sign this release knows, each with the secret that it needs.",
    access: { kind: "caller" },
    response: data(200, VerifyPresets),
    example: { response: { presets: presets.filter(({ name }) => name === "stripe") } },
    handler: async () => ({ presets }),
  }),
];
