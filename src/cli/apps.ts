import { type Command, InvalidArgumentError, Option } from "commander";
import type { TokenAuth } from "../models/connection.ts";
import {
  askSecret,
  type Confirmed,
  confirmDeletion,
  type EventRuleOptions,
  eventRuleOptions,
  eventRulesOf,
  readObjectFile,
  verifyOption,
  yesOption,
} from "./input.ts";
import { recordOfOperator } from "./operator-log.ts";
import type { Run } from "./run.ts";

interface Options extends EventRuleOptions {
  name?: string;
  authorizeUrl: string;
  tokenUrl: string;
  clientId: string;
  public?: boolean;
  tokenAuth?: TokenAuth;
  scopes?: string;
  param?: Record<string, string>;
  issuer?: string;
  verify?: string;
}

const VERIFY = "a preset or a rule, and secrets";

/** Commands with which operators register apps, so that accounts can connect theirs (docs/connections.md). */
export function appCommands(program: Command, run: Run): void {
  const app = program.command("app").description("manage the apps that accounts can connect (OAuth 2)");
  const set = app
    .command("set")
    .description("register an app, or replace it; its client secret is read from the standard input")
    .argument("<slug>", "as components name the app: github")
    .requiredOption("--authorize-url <url>", "where people agree")
    .requiredOption("--token-url <url>", "where tokens are granted and renewed")
    .requiredOption("--client-id <id>", "of the client that you registered with the app")
    .option("--name <name>", "as people know it (default: the slug)")
    .option("--scopes <scopes>", "what connections ask for, separated by blanks")
    .option("--param <name=value>", "further parameter of the authorize URL; may be repeated", parseParam)
    .option("--issuer <issuer>", "the iss with which its server returns, to be compared")
    .option("--public", "the client has no secret")
    .addOption(
      new Option("--token-auth <how>", "how the client proves its secret")
        .choices(["basic", "post"] satisfies TokenAuth[])
        .default("basic"),
    );
  verifyOption(eventRuleOptions(set)).action(async (slug: string, given: Options) => {
    const { public: isPublic, param, tokenAuth, verify: file, ...options } = given;
    const verify = file === undefined ? undefined : await readObjectFile(file, VERIFY);
    const clientSecret = isPublic
      ? undefined
      : await askSecret("client secret, not shown: ", "client secret");
    return run(async platform => {
      const { setApp } = await import("../connections/apps/apps.ts");
      const how = isPublic ? "none" : (tokenAuth ?? "basic");
      const app = await setApp(platform, {
        ...{ slug, ...options, authorizeParams: param, clientSecret, tokenAuth: how },
        ...{ events: eventRulesOf(given), verify },
      });
      await recordOfOperator(platform, { action: "app.saved", thing: { id: slug, name: app.name } });
      return app;
    });
  });
  app
    .command("list")
    .description("list the registered apps")
    .action(() => run(async platform => (await import("../connections/apps/apps.ts")).listApps(platform)));
  yesOption(
    app
      .command("delete")
      .description("delete an app; prints how many connections are no longer renewed")
      .argument("<slug>"),
  ).action(async (slug: string, options: Confirmed) => {
    await confirmDeletion(`app ${slug}`, options);
    await run(async platform => {
      const { deleteApp } = await import("../connections/apps/apps.ts");
      const deleted = await deleteApp(platform, slug);
      await recordOfOperator(platform, { action: "app.deleted", thing: { id: slug, name: null } });
      return deleted;
    });
  });
}

function parseParam(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("must be name=value");
  return { ...earlier, [name]: value };
}
