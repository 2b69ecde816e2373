import { randomBytes } from "node:crypto";
import { jsonOf, send } from "../../lib/http.mjs";
import { unlessGone } from "../../lib/unless-gone.mjs";

/** GitLab has no more webhooks of a project or a group than this. */
const PAGE = 100;

const EVENTS = [
  ...["push", "tag_push", "merge_requests", "issues", "confidential_issues", "note", "confidential_note"],
  ...["pipeline", "job", "deployment", "releases", "milestone", "wiki_page", "feature_flag", "emoji"],
];
/** Those that only groups have. */
const OF_GROUPS = ["member", "subgroup", "project"];

export default {
  key: "headwater-gitlab-events",
  name: "GitLab events",
  version: "1.0.0",
  type: "source",
  description: "Emits what happens in a project or a group of GitLab, which is registered there by itself.",
  dedupe: { strategy: "unique", remember: 1000 },
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      verify: { preset: "gitlab", secret: { from: "hook" } },
    },
    db: "$.service.db",
    token: {
      type: "string",
      label: "Access token",
      description:
        "With the scope api: a project's with the role Maintainer, a group's with Owner, or a personal one of who has that role.",
      secret: true,
    },
    kind: {
      type: "string",
      label: "Where",
      options: [
        { label: "In a project", value: "project" },
        { label: "In a group, with all of its projects (GitLab Premium)", value: "group" },
      ],
      default: "project",
    },
    path: {
      type: "string",
      label: "Project or group",
      description: "Such as gitlab-org/gitlab-runner, or its number.",
      async options({ page }) {
        const list = `per_page=${PAGE}&page=${page + 1}`;
        const found =
          this.kind === "group"
            ? await this.ask("GET", `/groups?min_access_level=50&${list}`)
            : await this.ask(
                "GET",
                `/projects?membership=true&min_access_level=40&order_by=last_activity_at&simple=true&${list}`,
              );
        return found.map(({ path_with_namespace, full_path }) => path_with_namespace ?? full_path);
      },
    },
    events: {
      type: "string[]",
      label: "Events",
      description: "Empty: every event.",
      options: [...EVENTS, ...OF_GROUPS],
      optional: true,
    },
    url: {
      type: "string",
      label: "Address of GitLab",
      description: "Another one for an instance of your own, such as https://gitlab.example.com.",
      default: "https://gitlab.com",
    },
  },
  hooks: {
    /** It may run again after a crash: the webhook that it made then is found by its address. */
    async activate() {
      const token = randomBytes(32).toString("hex");
      this.http.setSecret(token);
      const hooks = this.hooksPath();
      const body = { url: this.http.endpoint, token, enable_ssl_verification: true, ...this.chosen() };
      const known = await this.registered();
      const { id } = known
        ? await this.ask("PUT", `${hooks}/${known.id}`, body)
        : await this.ask("POST", hooks, body);
      this.db.set("hook", { path: `${hooks}/${id}` });
    },
    /** Of an `activate` that a crash ended, nothing is in the db: its webhook is found by its address, too. */
    async deactivate() {
      const known = await this.registered().catch(unlessGone);
      const paths = [known && `${this.hooksPath()}/${known.id}`, this.db.get("hook")?.path];
      for (const path of new Set(paths.filter(Boolean))) await this.ask("DELETE", path).catch(unlessGone);
      this.db.set("hook", undefined);
    },
  },
  methods: {
    async registered() {
      const found = await this.ask("GET", `${this.hooksPath()}?per_page=${PAGE}`);
      return found.find(({ url }) => url === this.http.endpoint);
    },
    hooksPath() {
      return `/${this.kind}s/${encodeURIComponent(this.path)}/hooks`;
    },
    /** Each kind of event is said, because GitLab takes pushes for wanted otherwise. */
    chosen() {
      const all = this.kind === "group" ? [...EVENTS, ...OF_GROUPS] : EVENTS;
      const wanted = this.events?.length ? this.events : all;
      return Object.fromEntries(all.map(name => [`${name}_events`, wanted.includes(name)]));
    },
    async ask(method, path, body) {
      const response = await send(`${this.url.replace(/\/+$/, "")}/api/v4${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.token}`,
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.text === "" ? null : jsonOf(response);
    },
  },
  run({ headers, body }) {
    const { object_attributes: subject = {}, project, group } = body;
    const name = body.object_kind ?? body.event_name ?? headers["x-gitlab-event"];
    const where = project?.path_with_namespace ?? group?.full_path ?? body.full_path ?? this.path;
    const who = body.user?.name ?? body.user_name;
    const what = [name, subject.action ?? subject.status, "in", where, who && `by ${who}`];
    const title = subject.title && `: ${subject.title}`;
    const summary = what.filter(Boolean).join(" ") + (title ?? "");
    // It is that of a repeat, too. Instances of an older release have none.
    const id = headers["webhook-id"] ?? headers["idempotency-key"];
    this.$emit({ event: name, payload: body }, { ...(id && { id }), summary, ts: Date.now() });
  },
  sampleEmit: {
    event: "merge_request",
    payload: {
      object_kind: "merge_request",
      user: { id: 1, name: "Ada", username: "ada" },
      project: { id: 15, path_with_namespace: "engines/analytical" },
      object_attributes: {
        iid: 7,
        title: "A note on numbers",
        action: "open",
        state: "opened",
        source_branch: "notes",
        target_branch: "main",
        url: "https://gitlab.example.com/engines/analytical/-/merge_requests/7",
      },
    },
  },
};
