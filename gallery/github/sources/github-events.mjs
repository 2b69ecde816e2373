import { randomBytes } from "node:crypto";
import { jsonOf, send } from "../../lib/http.mjs";
import { unlessGone } from "../../lib/unless-gone.mjs";

const EVENTS = [
  ...[
    "push",
    "pull_request",
    "pull_request_review",
    "issues",
    "issue_comment",
    "release",
    "create",
    "delete",
  ],
  ...[
    "workflow_run",
    "check_run",
    "deployment",
    "deployment_status",
    "discussion",
    "star",
    "fork",
    "member",
    "repository",
  ],
];
const PAGE = 100;

export default {
  key: "headwater-github-events",
  name: "GitHub events",
  version: "1.1.1",
  type: "source",
  description:
    "Emits what happens in a repository or an organization of GitHub, which is registered there by itself.",
  dedupe: "unique",
  props: {
    http: {
      type: "$.interface.http",
      label: "Address",
      verify: { preset: "github", secret: { from: "hook" } },
    },
    db: "$.service.db",
    token: {
      type: "string",
      label: "Token",
      description:
        "A fine-grained personal access token that may read and write webhooks of the repository or the organization.",
      secret: true,
    },
    repository: {
      type: "string",
      label: "Repository or organization",
      description: "Such as octo-org/octo-repo, or octo-org for all of its repositories.",
      async options({ page }) {
        const repositories = await this.ask(
          "GET",
          `/user/repos?sort=pushed&per_page=${PAGE}&page=${page + 1}`,
        );
        return repositories.map(({ full_name }) => full_name);
      },
    },
    events: {
      type: "string[]",
      label: "Events",
      description: "Empty: every event.",
      options: EVENTS,
      optional: true,
    },
    api: {
      type: "string",
      label: "Address of GitHub's API",
      hidden: true,
      default: "https://api.github.com",
    },
  },
  hooks: {
    /** It may run again after a crash: the webhook that it made then is found by its address. */
    async activate() {
      const secret = randomBytes(32).toString("hex");
      this.http.setSecret(secret);
      const hooks = this.hooksPath();
      const url = this.http.endpoint;
      const body = {
        active: true,
        events: this.events?.length ? this.events : ["*"],
        config: { url, content_type: "json", secret, insecure_ssl: "0" },
      };
      const known = await this.registered();
      const { id } = known
        ? await this.ask("PATCH", `${hooks}/${known.id}`, body)
        : await this.ask("POST", hooks, { name: "web", ...body });
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
      return found.find(({ config }) => config?.url === this.http.endpoint);
    },
    hooksPath() {
      const names = this.repository.split("/").map(encodeURIComponent);
      return names.length === 1 ? `/orgs/${names[0]}/hooks` : `/repos/${names[0]}/${names[1]}/hooks`;
    },
    async ask(method, path, body) {
      const response = await send(this.api + path, {
        method,
        headers: {
          accept: "application/vnd.github+json",
          authorization: `Bearer ${this.token}`,
          "user-agent": "Headwater",
          "x-github-api-version": "2022-11-28",
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.text === "" ? null : jsonOf(response);
    },
  },
  run({ headers, body }) {
    const name = headers["x-github-event"];
    if (name === "ping") return;
    const id = headers["x-github-delivery"];
    const where = body.repository?.full_name ?? body.organization?.login ?? this.repository;
    const what = [name, body.action, "in", where, body.sender && `by ${body.sender.login}`]
      .filter(Boolean)
      .join(" ");
    this.$emit({ event: name, delivery: id, payload: body }, { id, summary: what, ts: Date.now() });
  },
  sampleEmit: {
    event: "issues",
    delivery: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    payload: {
      action: "opened",
      issue: {
        number: 1347,
        title: "Found a bug",
        html_url: "https://github.com/octo-org/octo-repo/issues/1347",
      },
      repository: { full_name: "octo-org/octo-repo" },
      sender: { login: "octocat" },
    },
  },
};
