import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choosePort } from "../../script/lib/ports.mjs";
import { startScript } from "../child.ts";
import type { Watched } from "../meter.ts";
import type { Target } from "../targets.ts";
import { type Peer, withField } from "./peer.ts";
import { untilItTakesEvents } from "./running.ts";

/**
 * Node-RED in one process, which keeps no event: what it has accepted is in its memory, and is gone after a crash. Its
 * connections to the receiver are kept open, as Headwater's are.
 */
export const nodeRed: Peer = {
  packageName: "node-red",
  version: "5.0.7",
  title: "Node-RED",
  size: "about 120 MB",
  async start({ folder, node, stores, receiverUrl, senders, logFile }) {
    const port = await choosePort(0);
    const userDir = mkdtempSync(join(tmpdir(), "headwater-node-red-"));
    const settingsFile = join(userDir, "settings.js");
    writeFileSync(settingsFile, `module.exports = ${JSON.stringify(settingsOf(port))};\n`);
    writeFileSync(join(userDir, "flows.json"), JSON.stringify(flowTo(`${receiverUrl}/0`)));
    const program = startScript(join(folder, "node_modules/node-red/red.js"), {
      args: ["--userDir", userDir, "--settings", settingsFile],
      nodePath: node.path,
      logFile,
    });
    const stop = async () => {
      await program.stop();
      rmSync(userDir, { recursive: true, force: true });
    };
    const url = `http://127.0.0.1:${port}/bench`;
    const target: Target = { kind: "http", urls: [url], connections: senders };
    try {
      await untilItTakesEvents(url, [program]);
    } catch (error) {
      await stop();
      throw error;
    }
    // An event that was received is handled: nothing is recorded afterwards.
    const watched: Watched[] = [{ name: "Node-RED", group: "ours", pid: program.pid }];
    return { watched, stores, target, whenIdle: async () => {}, stop };
  },
};

const settingsOf = (port: number) => ({
  uiHost: "127.0.0.1",
  uiPort: port,
  // Without the editor.
  httpAdminRoot: false,
  flowFile: "flows.json",
  telemetry: { enabled: false, updateNotification: false },
  logging: { console: { level: "warn", metrics: false, audit: false } },
});

const CODE = `const event = ${withField("msg.payload")};
const headers = { "content-type": "application/json", "webhook-id": msg._msgid };
return [{ req: msg.req, res: msg.res, payload: "" }, { payload: event, headers }];`;

/** The flow: the function responds at once by its first output, and has the event sent by its second. */
export function flowTo(url: string): object[] {
  const node = (id: string, type: string, fields: object) => ({ id, z: "bench", type, ...fields });
  return [
    { id: "bench", type: "tab", label: "Bench" },
    node("in", "http in", { url: "/bench", method: "post", wires: [["code"]] }),
    node("code", "function", { func: CODE, outputs: 2, wires: [["respond"], ["post"]] }),
    node("respond", "http response", { statusCode: "200", wires: [] }),
    node("post", "http request", { method: "POST", url, ret: "txt", persist: true, wires: [[]] }),
  ];
}
