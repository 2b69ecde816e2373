const FEATURES =
  "^src/(components|sources|subscriptions|webhooks|deliveries|events|workflows|users|organizations|reconcile|cli)/";

/**
 * The import table of docs/architecture.md, checked on the built JavaScript (`npm run deps` runs in dist/): there
 * type-only imports are gone, which are no dependencies of the running code. TypeScript 7 has no API to parse with.
 */
module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "seams-know-no-feature",
      comment: "http, queues, store, egress and sandbox are crossed by every feature and know none",
      severity: "error",
      from: { path: "^src/(http|queues|store|egress|sandbox)/" },
      to: { path: FEATURES },
    },
    {
      name: "store-egress-sandbox-are-leaves",
      severity: "error",
      from: { path: "^src/(store|egress|sandbox)/" },
      to: { path: "^src/", pathNot: "^src/(store|egress|sandbox|errors|logger)(/|\\.js$)" },
    },
    {
      name: "queues-import-only-themselves",
      severity: "error",
      from: { path: "^src/queues/" },
      to: { path: "^src/", pathNot: "^src/(queues|errors|logger|gather)(/|\\.js$)" },
    },
    {
      name: "http-imports-only-itself",
      severity: "error",
      from: { path: "^src/http/" },
      to: { path: "^src/", pathNot: "^src/(http|errors|logger)(/|\\.js$)" },
    },
    {
      name: "only-routes-import-http",
      comment: "services and operations know no HTTP",
      severity: "error",
      from: { path: FEATURES, pathNot: "/(routes|ingress|[a-z]+-route)\\.js$" },
      to: { path: "^src/http/" },
    },
    {
      name: "platform-is-a-type",
      comment: "features take what they need of it as a parameter",
      severity: "error",
      from: { path: "^src/(?!app|server|platform)", pathNot: "^src/cli/main\\.js$" },
      to: { path: "^src/(platform|app|server|config)\\.js$" },
    },
    {
      name: "handlers-stay-in-workers",
      comment: "what runs jobs is imported by workers only",
      severity: "error",
      from: { path: "^src/(app|server)\\.js$" },
      to: { path: "^workers/" },
    },
    {
      name: "one-way-out",
      comment: "requests to the outside go through egress",
      severity: "error",
      from: { path: "^(src|workers)/", pathNot: "^src/(egress|sandbox)/" },
      to: { path: "^(undici|axios|node:https)$" },
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
