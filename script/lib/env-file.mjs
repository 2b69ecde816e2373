import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;

/** Parses the text of an env file: `NAME=value` lines, `#` comments, values with or without quotes. */
export function parseEnv(text) {
  const pairs = text
    .split(/\r?\n/)
    .map(line => LINE.exec(line))
    .filter(match => match !== null)
    .map(([, name, value]) => [name, unquote(value.trim())]);
  return Object.fromEntries(pairs);
}

function unquote(value) {
  const quoted = /^(["'])(.*?)\1\s*(?:#.*)?$/.exec(value);
  return quoted ? quoted[2] : value.replace(/\s+#.*$/, "");
}

/** The text of an env file. Values that a shell's `.` would split or expand are put in double quotes. */
export function formatEnv(settings, heading) {
  const lines = Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${/^[\w@%+=:,./?-]*$/.test(value) ? value : `"${value}"`}`);
  return `${heading.map(line => `# ${line}\n`).join("")}${lines.join("\n")}\n`;
}

/** The settings in an env file; an empty object if the file does not exist. */
export function readEnvFile(file) {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw error;
  }
}

/** Replaces an env file atomically. Only its owner may read it, because it contains keys. */
export function writeEnvFile(file, settings, heading = []) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, formatEnv(settings, heading), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
