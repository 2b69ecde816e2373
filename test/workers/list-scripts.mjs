// Imported into a process by NODE_OPTIONS: writes what it has loaded to SCRIPTS_FILE when it ends, as [[url, characters]].
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";

process.on("exit", () => {
  const scripts = [];
  const session = new Session();
  session.connect();
  session.on("Debugger.scriptParsed", ({ params: { url, length } }) => {
    if (/^(?:file:|\/)/.test(url)) scripts.push([url, length]);
  });
  session.post("Debugger.enable");
  session.disconnect();
  writeFileSync(process.env.SCRIPTS_FILE, JSON.stringify(scripts));
});
