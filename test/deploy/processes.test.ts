import { readFileSync } from "node:fs";
import { expect } from "chai";
import { SIZES } from "../../bench/capacity/constants.ts";
import { readProcfile } from "../../script/lib/procfile.mjs";
import { STOPS_WITHIN_MS } from "../../src/lib/shutdown.ts";
import { CONCURRENCY, parseEntries, SIZES_MB } from "../../src/setting-lists.ts";
import { unknownNames } from "../../src/setting-names.ts";
import { settingNames } from "../../src/setting-schema.ts";
import { read, root } from "../docs/repository.ts";
import {
  composeProcesses,
  type Deployed,
  flyProcesses,
  flySizes,
  herokuSizes,
  podProcesses,
  renderProcesses,
  renderSizes,
} from "./files.ts";
import { build, hasKubectl, needKubectl } from "./kustomize.ts";

const names = (file: string) => readProcfile(`${root}/${file}`).map(({ name }) => name);
/** What `deploy/start` starts by name. */
const PROCESSES = [...names("Procfile"), "release", ...names("Procfile.small").map(name => `small-${name}`)];
/** What it starts as it is written. */
const PROGRAMS = [
  "node deploy/generate-secrets.mjs /run/secrets/headwater",
  "node deploy/first-user.mjs /var/lib/headwater-first-user http://web:3000",
];
/** Between a process' own deadline and the kill. */
const SPARE_MS = 5000;

/** The measured peak of a worker that starts sandboxes (deploy/README.md#sizes). Megabytes. */
const WORKER_MB = 196;

/** What the host's own build reads, and not Headwater. */
const OF_THE_HOST = ["NPM_CONFIG_PRODUCTION"];

function deployed(): Deployed[] {
  const pods = hasKubectl()
    ? ["small", "large"].flatMap(overlay => podProcesses(overlay, build(`overlays/${overlay}`)))
    : [];
  return [...composeProcesses(), ...renderProcesses(), ...flyProcesses(), ...pods];
}

/** The variables of a file of `NAME=value` lines. */
const namesIn = (file: string) =>
  readFileSync(`${root}/${file}`, "utf8")
    .split("\n")
    .flatMap(line => /^([A-Za-z_]+)=/.exec(line)?.[1] ?? []);

describe("the processes of the deploy files", () => {
  it("include the pods of both overlays", function () {
    needKubectl(this);
    expect(deployed().filter(({ where }) => /^(small|large)\b/.test(where)).length).to.be.above(5);
  });

  it("are those of the Procfile, or programs of the image", () => {
    const commands = deployed().map(({ where, command }) => [where, command.join(" ")] as const);
    expect(commands.length).to.be.above(15);
    for (const [where, command] of commands) expect([...PROCESSES, ...PROGRAMS], where).to.include(command);
  });

  it("have only settings that Headwater reads, and every one that it needs or says where it comes from", () => {
    for (const { where, env } of deployed()) {
      const given = Object.keys(env).filter(name => !OF_THE_HOST.includes(name));
      expect(unknownNames(given, settingNames), where).to.deep.equal([]);
    }
    const inImage = [...read("deploy/Dockerfile").matchAll(/^(?:ENV| {4})([A-Z_]+)=/gm)].map(
      ([, name = ""]) => name,
    );
    expect(unknownNames(inImage, settingNames), "Dockerfile").to.deep.equal([]);
    const inUnits = namesIn("deploy/systemd/headwater.env.example");
    expect(unknownNames(inUnits, settingNames), "headwater.env.example").to.deep.equal([]);
    const { env } = JSON.parse(read("app.json")) as { env: Record<string, unknown> };
    const heroku = Object.keys(env).filter(name => !OF_THE_HOST.includes(name));
    expect(unknownNames(heroku, settingNames), "app.json").to.deep.equal([]);
    const generated = read("deploy/generate-secrets.mjs").match(/^ {2}[A-Z_]+(?=: \(\))/gm) ?? [];
    expect(generated.map(name => name.trim())).to.have.members([
      "SECRETS_KEY",
      "ADMIN_PASSWORD",
      "METRICS_TOKEN",
    ]);
  });

  it("find out that a name is misspelled", () => {
    expect(unknownNames(["PUBLIC_URI"], settingNames)).to.have.length(1);
  });

  it("may take five seconds longer to stop than they ever do", () => {
    for (const { where, command, graceMs } of deployed()) {
      // One-shot programs have nothing to finish.
      if (command.includes("release") || command.length > 1) continue;
      expect(graceMs, where).to.be.at.least(STOPS_WITHIN_MS + SPARE_MS);
    }
    const unit = /^TimeoutStopSec=(\d+)$/m.exec(read("deploy/systemd/headwater@.service"))?.[1];
    expect(Number(unit) * 1000).to.be.at.least(STOPS_WITHIN_MS + SPARE_MS);
  });

  it("that start sandboxes have memory for as many as they may start", () => {
    const needed = (env: Record<string, string | undefined>, memoryMb: number) =>
      WORKER_MB +
      parseEntries(env.CONCURRENCY ?? "", CONCURRENCY).sandboxes * SIZES.sandboxMb +
      (parseEntries(env.SIZES_MB ?? "", SIZES_MB).warm ?? memoryMb / 4);
    const starting = [...flySizes(), ...renderSizes(), ...herokuSizes()].filter(({ name }) =>
      ["runs", "deliveries"].includes(name),
    );
    expect(starting).to.have.length(6);
    for (const { where, env, memoryMb } of starting) {
      expect(memoryMb, where).to.be.at.least(needed(env, memoryMb));
    }
  });

  it("of app.json are all those of the Procfile that run for ever", () => {
    const { formation } = JSON.parse(read("app.json")) as { formation: object };
    expect(Object.keys(formation)).to.have.members(names("Procfile").filter(name => name !== "release"));
  });

  it("of fly.toml and render.yaml, too", () => {
    const lasting = names("Procfile").filter(name => name !== "release");
    for (const processes of [flyProcesses(), renderProcesses()]) {
      const started = processes.map(({ command }) => command.join(" "));
      expect(started).to.include.members([...lasting, "release"]);
    }
  });
});
