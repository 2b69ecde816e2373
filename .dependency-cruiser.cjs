/**
 * Import rules, checked on the built JavaScript (`npm run deps` runs in dist/), because TypeScript 7 has no API to parse
 * with. Type-only imports are gone there; `test/docs/architecture.test.ts` holds those to the same order.
 */

/**
 * The folders of src/ from the bottom up: each imports only folders above its own line here. The same table stands in
 * docs/architecture.md, and a test keeps the two equal.
 */
const ORDER = [
  "lib",
  "limits",
  "metrics",
  "fairness",
  "tracing",
  "egress",
  "openid",
  "verify",
  "store/schema",
  "store/connections",
  "store",
  "store/limits",
  "store/events",
  "store/runs",
  "store/sweeps",
  "sandbox",
  "http",
  "queues",
  "user-environment.js",
  "config.js",
  "platform.js",
  "models",
  "accepted",
  "audit",
  "alerts",
  "accounts",
  "props",
  "connections",
  "components",
  "gallery",
  "functions",
  "issues",
  "webhooks",
  "destinations",
  "subscriptions",
  "deliveries/attempt",
  "deliveries/limits",
  "deliveries/dispatch",
  "deliveries/select",
  "deliveries/worker",
  "deliveries",
  "events",
  "sources",
  "secrets",
  "workflows",
  "runs",
  "search",
  "activity",
  "attention",
  "mcp",
  "ingress",
  "alerts/send",
  "reconcile",
  "ops",
  "cli",
  "app.js",
  "server.js",
];

const INFRASTRUCTURE = "lib|egress|openid|store|sandbox|http|queues";

const escaped = name => name.replaceAll(".", "\\.");
/** A folder's own files and those of its folders, but for folders that have a line of their own. */
function pattern(name) {
  if (name.endsWith(".js")) return `^src/${escaped(name)}$`;
  const listed = ORDER.filter(other => other.startsWith(`${name}/`)).map(other =>
    other.slice(name.length + 1),
  );
  return listed.length === 0 ? `^src/${name}/` : `^src/${name}/(?!(${listed.join("|")})/)`;
}

const oneDirection = ORDER.map((name, at) => ({
  name: `${name}-imports-only-what-stands-above`,
  severity: "error",
  from: { path: pattern(name) },
  to: { path: ORDER.slice(at + 1).map(pattern) },
})).filter(({ to }) => to.path.length > 0);

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    ...oneDirection,
    {
      name: "every-folder-has-its-line",
      comment: "a new folder or root file gets a line in ORDER and in docs/architecture.md",
      severity: "error",
      from: {},
      to: {
        path: "^src/",
        pathNot: [
          ...ORDER.map(pattern),
          "^src/(setting-(formats|lists|names|schema)|removed-settings)\\.js$",
        ],
      },
    },
    {
      name: "only-routes-import-http",
      comment: "services and operations know no HTTP",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: [
          `^src/(${INFRASTRUCTURE})/`,
          "^src/(ingress|mcp|ops)/",
          "(/|-)routes?\\.js$",
          "^src/(app|server)\\.js$",
          // `headwater dev` serves requests as the web process does.
          "^src/cli/dev/http-port\\.js$",
        ],
      },
      to: { path: "^src/http/" },
    },
    {
      name: "platform-is-a-type",
      comment: "features take what they need of it as a parameter",
      severity: "error",
      from: { path: "^src/(?!app|server|platform)", pathNot: "^src/cli/(main|program)\\.js$" },
      to: { path: "^src/(platform|app|server|config)\\.js$" },
    },
    {
      name: "handlers-stay-in-workers",
      comment: "what consumes a queue is imported by workers only",
      severity: "error",
      from: { path: "^src/(app|server)\\.js$" },
      to: { path: ["^workers/", "/handle-job\\.js$"] },
    },
    {
      name: "one-way-out",
      comment: "requests to the outside go through egress",
      severity: "error",
      from: { path: "^(src|workers)/", pathNot: "^src/(egress|sandbox)/" },
      to: { path: "^(undici|axios|node:https)$" },
    },
    {
      name: "only-cli-is-a-client",
      comment: "the server does not call itself",
      severity: "error",
      from: { path: "^(src|workers)/", pathNot: "^src/cli/" },
      to: { path: "^clients/" },
    },
    {
      name: "not-to-dev-dep",
      severity: "error",
      from: { path: "^(src|workers)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "not-to-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^(node|npm|ext):" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/sandbox/child/" },
    tsPreCompilationDeps: false,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
