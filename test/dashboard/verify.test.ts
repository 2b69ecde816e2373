import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { VERIFY, VERIFY_ED25519 } from "../../dashboard/lib/verify.ts";
import { findProgram } from "../../script/lib/commands.mjs";
import { signatureHeaders } from "../../src/deliveries/attempt/sign.ts";
import { newKeyPair } from "../../src/webhooks/ed25519.ts";
import { startReceiver } from "../support/receiver.ts";
import { programOrSkip, skipBecause } from "../support/skip.ts";
import { startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const newKey = () => `whsec_${randomBytes(32).toString("base64")}`;
const codeOf = (language: string) => VERIFY.find(one => one.language === language)?.code ?? "";

interface Case {
  name: string;
  headers: Record<string, string>;
  body: string;
  key: string;
}

/** A delivery as a receiver got it, after a rotation, so that two keys sign; and the two keys. */
async function deliver(): Promise<Case & { oldKey: string }> {
  const system = await startSystem();
  const receiver = await startReceiver();
  try {
    const api = await system.user();
    const { id, signing_key: oldKey } = await api.createWebhook(receiver.url);
    const { signing_key: key } = await api.expect(200, "POST", `/webhooks/${id}/rotate_signing_key`, {
      body: {},
    });
    const { id: flow } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    await api.subscribe(flow, id);
    const events = [{ event: { hello: "wörld", at: "\u2028" } }];
    await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { events } });
    const { headers, raw } = await until(() => receiver.requests[0]);
    return { name: "as it came", headers: headers as Record<string, string>, body: raw, key, oldKey };
  } finally {
    await receiver.close();
    await system.stop();
  }
}

describe("what the dashboard shows for verifying a delivery", () => {
  let genuine: Case[];
  let forged: Case[];
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-verify-"));
    const { oldKey, ...sent } = await deliver();
    const { headers, body, key } = sent;
    const id = headers["webhook-id"] ?? "";
    const signed = (timestamp: number, keys = [key]) => ({
      ...headers,
      ...signatureHeaders({ id, timestamp, body }, keys),
    });
    const now = Number(headers["webhook-timestamp"]);
    const { "webhook-signature": signature = "", ...unsigned } = headers;
    const { "webhook-timestamp": _, ...timeless } = headers;
    genuine = [sent, { ...sent, name: "by the key before the rotation", key: oldKey }];
    forged = [
      { ...sent, name: "another body", body: `${body} ` },
      { ...sent, name: "another key", key: newKey() },
      { ...sent, name: "another id", headers: { ...headers, "webhook-id": `${id}x` } },
      { ...sent, name: "another time", headers: { ...headers, "webhook-timestamp": String(now + 1) } },
      { ...sent, name: "no number as time", headers: { ...headers, "webhook-timestamp": "now" } },
      { ...sent, name: "no time", headers: timeless },
      { ...sent, name: "signed ten minutes ago", headers: signed(now - 600) },
      { ...sent, name: "signed in ten minutes", headers: signed(now + 600) },
      { ...sent, name: "no signature", headers: unsigned },
      ...["", " ", "v1,", "v1", "v1,é", `v2,${signature.slice(3)}`, signature.slice(0, 30)].map(one => ({
        ...sent,
        name: `the signature ${JSON.stringify(one)}`,
        headers: { ...headers, "webhook-signature": one },
      })),
    ];
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Checks what a program printed for all cases, genuine ones first: a list of booleans. */
  function check(results: unknown): void {
    const cases = [...genuine, ...forged];
    expect(results).to.be.an("array").with.length(cases.length);
    const accepted = cases.filter((_case, i) => (results as unknown[])[i] === true);
    expect(accepted.map(({ name }) => name)).to.deep.equal(genuine.map(({ name }) => name));
  }

  function run(program: string, args: string[], cwd = folder): void {
    const input = JSON.stringify([...genuine, ...forged]);
    const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, input, encoding: "utf8" });
    expect(status, `${error ?? ""}${stderr}`).to.equal(0);
    check(JSON.parse(stdout));
  }

  it("accepts genuine deliveries and no others in JavaScript, of bytes and of text", async () => {
    const source = `data:text/javascript,${encodeURIComponent(codeOf("Node"))}`;
    const { isGenuine } = (await import(source)) as {
      isGenuine(headers: Record<string, string>, body: string | Buffer, key: string): boolean;
    };
    const cases = [...genuine, ...forged];
    check(cases.map(({ headers, body, key }) => isGenuine(headers, body, key)));
    check(cases.map(({ headers, body, key }) => isGenuine(headers, Buffer.from(body), key)));
  });

  it("accepts genuine deliveries and no others in Python", function () {
    const python = findProgram("python3");
    if (!python) skipBecause(this, "there is no python3 on the PATH");
    const program = `${codeOf("Python")}
import json, sys
print(json.dumps([is_genuine(one["headers"], one["body"].encode(), one["key"]) for one in json.load(sys.stdin)]))`;
    run(python, ["-c", program]);
  });

  it("accepts genuine deliveries and no others in Ruby", async function () {
    const ruby = await programOrSkip(this, "ruby");
    const program = `${codeOf("Ruby")}
require "json"
cases = JSON.parse($stdin.read.force_encoding("UTF-8"))
puts JSON.generate(cases.map { |one| genuine?(one["headers"], one["body"].b, one["key"]) })`;
    run(ruby, ["-e", program]);
  });

  // Not installed where it is missing: the package takes some 80 MB of download and several times that of disk.
  it("accepts genuine deliveries and no others in Go", async function () {
    const go = findProgram("go");
    if (!go) skipBecause(this, "there is no go on the PATH");
    await writeFile(join(folder, "go.mod"), "module verify\n\ngo 1.19\n");
    await writeFile(join(folder, "verify.go"), `package main\n\n${codeOf("Go")}\n`);
    await writeFile(join(folder, "main.go"), MAIN_GO);
    run(go, ["run", "."]);
  });
});

describe("what the dashboard shows for verifying a delivery that is signed by ed25519", () => {
  const pair = newKeyPair();
  const body = '{"hello":"wörld","at":"\u2028"}';
  const now = Math.floor(Date.now() / 1000);
  const sign = (timestamp = now, keys = [pair.secret]) =>
    signatureHeaders({ id: "dlv_1", timestamp, body }, keys);
  const headers = sign();
  const { "webhook-signature": signature = "" } = headers;
  const withSignature = (text: string) => ({ ...headers, "webhook-signature": text });
  const genuine: Case[] = [
    { name: "as it came", headers, body, key: pair.public },
    {
      name: "after a rotation",
      headers: sign(now, [newKeyPair().secret, pair.secret]),
      body,
      key: pair.public,
    },
    { name: "beside HMAC", headers: sign(now, [newKey(), pair.secret]), body, key: pair.public },
  ];
  const forged: Case[] = [
    { name: "another body", headers, body: `${body} `, key: pair.public },
    { name: "another key", headers, body, key: newKeyPair().public },
    { name: "another id", headers: { ...headers, "webhook-id": "dlv_2" }, body, key: pair.public },
    { name: "signed ten minutes ago", headers: sign(now - 600), body, key: pair.public },
    { name: "signed in ten minutes", headers: sign(now + 600), body, key: pair.public },
    ...["", "v1a,", "v1a", "v1a,é", signature.replace("v1a,", "v1,"), signature.slice(0, 40)].map(text => ({
      ...{
        name: `the signature ${JSON.stringify(text)}`,
        headers: withSignature(text),
        body,
        key: pair.public,
      },
    })),
  ];
  const cases = [...genuine, ...forged];
  const wanted = cases.map(one => genuine.includes(one));
  const shownFor = (language: string) => VERIFY_ED25519.find(one => one.language === language)?.code ?? "";
  const printedBy = (program: string, args: string[], cwd: string = tmpdir()): unknown => {
    const { stdout, stderr } = spawnSync(program, args, {
      cwd,
      input: JSON.stringify(cases),
      encoding: "utf8",
    });
    return stdout === "" ? stderr : JSON.parse(stdout);
  };

  it("accepts genuine deliveries and no others in JavaScript, of bytes and of text", async () => {
    const source = `data:text/javascript,${encodeURIComponent(shownFor("Node"))}`;
    const { isGenuine } = (await import(source)) as {
      isGenuine(headers: Record<string, string>, body: string | Buffer, key: string): boolean;
    };
    for (const bodyOf of [(text: string) => text, (text: string) => Buffer.from(text)]) {
      const results = cases.map(one => isGenuine(one.headers, bodyOf(one.body), one.key));
      expect(results).to.deep.equal(wanted);
    }
  });

  it("accepts genuine deliveries and no others in Python", function () {
    const python = findProgram("python3");
    if (!python) skipBecause(this, "there is no python3 on the PATH");
    if (spawnSync(python, ["-c", "import cryptography"]).status !== 0)
      skipBecause(this, "this python3 has no package cryptography");
    const program = `${shownFor("Python")}
import json, sys
print(json.dumps([is_genuine(one["headers"], one["body"].encode(), one["key"]) for one in json.load(sys.stdin)]))`;
    expect(printedBy(python, ["-c", program])).to.deep.equal(wanted);
  });

  it("accepts genuine deliveries and no others in Go", async function () {
    const go = findProgram("go");
    if (!go) skipBecause(this, "there is no go on the PATH");
    const folder = await mkdtemp(join(tmpdir(), "headwater-verify-"));
    try {
      await writeFile(join(folder, "go.mod"), "module verify\n\ngo 1.19\n");
      await writeFile(join(folder, "verify.go"), `package main\n\n${shownFor("Go")}\n`);
      await writeFile(join(folder, "main.go"), MAIN_GO);
      expect(printedBy(go, ["run", "."], folder)).to.deep.equal(wanted);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

const MAIN_GO = `package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	var cases []struct {
		Headers   map[string]string
		Body, Key string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, one := range cases {
		headers := http.Header{}
		for name, value := range one.Headers {
			headers.Set(name, value)
		}
		results = append(results, isGenuine(headers, []byte(one.Body), one.Key))
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`;
