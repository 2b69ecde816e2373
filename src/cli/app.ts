import { type Command, InvalidArgumentError, Option } from "commander";
import type { AppEventRules, TokenAuth } from "../models/app.ts";
import type { Run } from "./run.ts";

interface Options {
  name?: string;
  authorizeUrl: string;
  tokenUrl: string;
  clientId: string;
  public?: boolean;
  tokenAuth?: TokenAuth;
  scopes?: string;
  param?: Record<string, string>;
  issuer?: string;
  eventName?: string[];
  event?: string;
  challenge?: string;
}

/** Commands with which operators register apps, so that accounts can connect theirs (docs/connections.md). */
export function appCommands(program: Command, run: Run): void {
  const app = program.command("app").description("manage the apps that accounts can connect (OAuth 2)");
  app
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
    .option(
      "--event-name <template>",
      "what an event that it sends is called: {{headers.x-event}}; may be repeated",
      (one, earlier: string[] = []) => [...earlier, one],
    )
    .option("--event <template>", "what sources receive of it (default: {{body}})")
    .option(
      "--challenge <template>",
      "what it wants sent back when it checks an endpoint: {{body.challenge}}",
    )
    .option("--public", "the client has no secret")
    .addOption(
      new Option("--token-auth <how>", "how the client proves its secret")
        .choices(["basic", "post"] satisfies TokenAuth[])
        .default("basic"),
    )
    .action(
      async (
        slug: string,
        { public: isPublic, param, tokenAuth, eventName, event, challenge, ...options }: Options,
      ) => {
        const { askSecret } = await import("./remote/ask-secret.ts");
        const clientSecret = isPublic
          ? undefined
          : await askSecret("client secret, not shown: ", "client secret");
        return run(async platform => {
          const { setApp } = await import("../connections/apps/set.ts");
          const how = isPublic ? "none" : (tokenAuth ?? "basic");
          const events = eventRules(eventName, event, challenge);
          return setApp(platform, {
            ...{ slug, ...options, authorizeParams: param, clientSecret, tokenAuth: how },
            events,
          });
        });
      },
    );
  app
    .command("list")
    .description("list the registered apps")
    .action(() => run(async platform => (await import("../connections/apps/list.ts")).listApps(platform)));
  app
    .command("delete")
    .description("delete an app; prints how many connections are no longer renewed")
    .argument("<slug>")
    .action((slug: string) =>
      run(async platform => (await import("../connections/apps/delete.ts")).deleteApp(platform, slug)),
    );
}

/** Returns what was said of the app's events; undefined if nothing was. */
function eventRules(names?: string[], event?: string, challenge?: string): AppEventRules | undefined {
  if (names === undefined && event === undefined && challenge === undefined) return undefined;
  return {
    ...(names && { names }),
    ...(event !== undefined && { event }),
    ...(challenge !== undefined && { challenge }),
  };
}

function parseParam(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("must be name=value");
  return { ...earlier, [name]: value };
}
