import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { type Command, CommanderError } from "commander";
import { UsageError } from "../../src/cli/input.ts";
import { createProgram } from "../../src/cli/program.ts";
import { headwater } from "./command.ts";

/** Nothing listens there: what asks a server first fails otherwise. */
const ACCESS = ["--url", "http://127.0.0.1:1", "--key", "hw_x"];

/** Returns what a command was told to be wrong usage, which has exit code 2; null if it is not. */
async function misuseOf(...args: string[]): Promise<string | null> {
  const program = createProgram();
  const quiet = (command: Command) => {
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    command.commands.forEach(quiet);
  };
  quiet(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return null;
  } catch (error) {
    const isMisuse = error instanceof UsageError || (error instanceof CommanderError && error.exitCode !== 0);
    return isMisuse ? (error as Error).message : null;
  }
}

interface Leaf {
  path: string[];
  command: Command;
}

const leavesOf = (command: Command, path: string[] = []): Leaf[] =>
  command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap(one => leavesOf(one, [...path, one.name()]));

const sampleOf = (option?: string) => (option === "--since" ? "1h" : "1");

/** Values for all that a command cannot do without. */
const neededOf = ({ command }: Leaf): string[] => [
  ...command.registeredArguments
    .filter(({ required }) => required)
    .map(({ argChoices }) => argChoices?.[0] ?? "x"),
  ...command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [`${long}`, sampleOf(long)]),
];

describe("wrong usage of headwater", () => {
  const leaves = leavesOf(createProgram());

  it("is an option that a command does not have, a missing argument or option, and a choice that is none", async () => {
    expect(leaves.length).to.be.above(60);
    for (const leaf of leaves) {
      const { path, command } = leaf;
      expect(await misuseOf(...path, ...neededOf(leaf), "--nope"), path.join(" ")).to.include("--nope");
      const [argument] = command.registeredArguments.filter(({ required }) => required);
      const options = command.options
        .filter(({ mandatory }) => mandatory)
        .flatMap(({ long }) => [`${long}`, sampleOf(long)]);
      if (argument) expect(await misuseOf(...path, ...options), path.join(" ")).to.include(argument.name());
      for (const { long, argChoices } of command.options) {
        if (!argChoices) continue;
        expect(await misuseOf(...path, ...neededOf(leaf), `${long}`, "nope"), path.join(" ")).to.include(
          long,
        );
      }
      for (const { long } of command.options.filter(({ mandatory }) => mandatory)) {
        const needed = neededOf(leaf);
        const without = needed.toSpliced(needed.indexOf(`${long}`), 2);
        expect(await misuseOf(...path, ...without), path.join(" ")).to.include(long ?? "");
      }
    }
  });

  const TABLE: [args: string, message: RegExp][] = [
    ["webhook create http://x --max-in-flight -1", /--max-in-flight.*must be an integer from 1 to/],
    ["webhook create http://x --max-in-flight 0", /--max-in-flight.*must be an integer from 1 to/],
    ["webhook create http://x --rate-limit 1.5", /--rate-limit.*must be an integer from 1 to/],
    ["webhook create http://x --header novalue", /--header.*must be "name: value"/],
    ["webhook update x", /nothing to change: give an option/],
    ["subscription update sub_x", /nothing to change: give an option/],
    ["connection update apn_x", /nothing to change: give an option/],
    ["connection update apn_x --app-events --event x", /--app-events: goes without/],
    ["destination create s3 https://u:p@x --stream s", /url: give the password with --secret/],
    ["destination create redis_stream redis://x --max-length many", /--max-length.*integer/],
    ["source list --limit 0", /--limit.*must be an integer from 1 to 10000/],
    ["source list --limit -1", /--limit.*must be an integer from 1 to 10000/],
    ["source run x --event {", /--event.*must be JSON/],
    ["subscription create a b --filter []", /--filter.*must be a JSON object/],
    ["subscription test a", /--filter, --function: exactly one/],
    ["subscription test a --filter {} --event 1", /--event: goes with --function/],
    ["delivery list --since 30", /--since.*lacks its unit: 30m are minutes ago/],
    ["delivery list --until soon", /--until.*must be a date, Unix seconds, or a time ago/],
    ["delivery recover x --since 2", /--since.*lacks its unit/],
    ["delivery list -f --text x", /--text: goes without --follow/],
    ["api nope /x", /'nope'.*'method'.*get, post, put, delete/],
    ["api get x", /'x'.*'path'.*must begin with a slash/],
    ["api get /sources/{id}", /'path'.*must have ids in place of \{id\}/],
    ["api get /v1/live?runs=true", /'path'.*is a stream/],
    ["api get /x --data 1", /--data: goes with post and put/],
    ["publish x", /--event, --file: exactly one/],
    ["publish x --event 1 --file f", /--event, --file: exactly one/],
    ["publish x --file f --name n", /--name: goes with --event/],
    ["publish x --file f --id n", /--id: goes with --event/],
    ["listen x --to nowhere", /--to: nowhere is not an http or https URL/],
    ["listen x --to http://x --since yesterday", /--since: must be an event id/],
    ["pull x --limit 0", /--limit.*integer from 1/],
    ["destination create pull http://x", /url: pull has none/],
    ["destination create s3", /url: s3 needs one/],
    ["dev f --port 70000", /--port.*must be a port/],
    ["catalogue f --at-once 0", /--at-once.*integer from 1/],
    ["completion tcsh", /tcsh.*'shell'.*bash, zsh, fish/],
    ["--url nowhere source list", /--url: nowhere is not an http or https URL/],
    ["--profile a --key b source list", /--profile: can't be combined/],
    ["--url http://x dev f", /--url: dev has no such option/],
    ["--key k migrate", /--key: migrate has no such option/],
    ["source nope", /unknown command 'nope'/],
  ];
  it("is told in one line that names the option, before a server is asked", async () => {
    for (const [text, message] of TABLE) {
      const words = text.split(" ");
      const chosen = /^--|^(dev|completion)/.test(text) ? [] : ACCESS;
      const told = await misuseOf(...chosen, ...words);
      expect(told, text).to.match(message);
      expect(told?.includes("\n"), text).to.equal(false);
    }
  });

  it("has exit code 2, and a hint at most beside its line", async () => {
    for (const args of [
      ["publish", "x", ...ACCESS],
      ["help", "nope"],
      ["help", "source", "nope"],
    ]) {
      const { code, stdout, stderr } = await headwater(args);
      expect([code, stdout], stderr).to.deep.equal([2, ""]);
      expect(stderr.trimEnd().split("\n").length).to.be.at.most(2);
    }
  });

  it("is not a server before the command, nor a question for help with a command's command @long", async () => {
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end('{"data": {"id": "dc_1", "name": "n"}, "page_info": null}');
    }).listen(0, "127.0.0.1");
    await new Promise(resolve => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      for (const place of [
        ["--url", url, "--key", "hw_x", "workflow", "show", "p_1", "--json"],
        ["workflow", "show", "p_1", "--json", "--url", url, "--key", "hw_x"],
      ]) {
        const { code, stdout, stderr } = await headwater(place);
        expect([code, JSON.parse(stdout)], stderr).to.deep.equal([0, { id: "dc_1", name: "n" }]);
      }
      // What is not a list where a list belongs.
      const list = await headwater(["workflow", "list", "--url", url, "--key", "hw_x"]);
      expect([list.code, list.stdout]).to.deep.equal([1, ""]);
      expect(list.stderr).to.match(/^headwater: http\S+: .*must be the address of a Headwater\n$/);
    } finally {
      server.close();
    }
    const help = await headwater(["help", "source", "list"]);
    expect(help.code).to.equal(0);
    expect(help.stdout).to.match(/^Usage: headwater source list /);
  });
});
