import { type SourceFile, sourcesEnding } from "./sources.ts";

/** Something of a library that its documentation doesn't promise. */
interface PrivatePart {
  library: string;
  what: string;
  /** Where it is touched, a line at a time. */
  pattern: RegExp;
  /** True if each file counts once, by the first line that matches. */
  oncePerFile?: boolean;
}

/** The list of what is touched. A new patch or trick gets a line here. */
const PRIVATE_PARTS: PrivatePart[] = [
  { library: "BullMQ", what: "keys of a queue or a job", pattern: /\.toKey\(|"wait", "prioritized"/ },
  {
    library: "BullMQ",
    what: "its lists, scores and hashes in Lua scripts",
    pattern: /BullMQ|0x100000000|priorit/,
    oncePerFile: true,
  },
  {
    library: "BullMQ",
    what: "overridden members of its classes",
    pattern: /override (?:get Job\(|createJob\(|asJSON\()/,
  },
  { library: "BullMQ", what: "renewal of locks in its place", pattern: /\.extendJobLocks\(/ },
  { library: "ioredis", what: "`sendCommand`, wrapped", pattern: /\.sendCommand = / },
  { library: "ioredis", what: "the stream of a connection", pattern: /\bnode\.stream\b/ },
  {
    library: "ioredis",
    what: "a Connector in place of its own",
    pattern: /Connector: |extends SentinelConnector/,
  },
  {
    library: "ioredis",
    what: "`String.prototype` repaired after its subclass",
    pattern: /Object\.create\(String\.prototype\)/,
  },
  { library: "mongodb", what: "classes below `lib`", pattern: /require\("mongodb\/lib\// },
  {
    library: "mongodb",
    what: "patched prototypes",
    pattern: /\b(?:Connection|ConnectionPool)\.prototype\.\w+ = /,
  },
  {
    library: "deno",
    what: "a socket's handle and private symbols",
    pattern: /\._handle\b|getOwnPropertySymbols\(/,
  },
];

/** A place where a library's private part is touched. */
export interface Touch {
  library: string;
  what: string;
  /** `file:line`. */
  place: string;
}

/** Returns every place in src/ and workers/ that touches a private part of a library. */
export function touches(): Touch[] {
  const files = [...sourcesEnding(".ts"), ...sourcesEnding(".lua")];
  return PRIVATE_PARTS.flatMap(part =>
    files.flatMap(file =>
      placesIn(file, part).map(place => ({ library: part.library, what: part.what, place })),
    ),
  );
}

function placesIn({ path, text }: SourceFile, { what, pattern, oncePerFile = false }: PrivatePart): string[] {
  if (path.endsWith(".lua") !== what.endsWith("in Lua scripts")) return [];
  const isComment = (line: string) => path.endsWith(".ts") && /^\s*(?:\*|\/\/|\/\*)/.test(line);
  const places = text
    .split("\n")
    .flatMap((line, i) => (pattern.test(line) && !isComment(line) ? [`${path}:${i + 1}`] : []));
  return oncePerFile ? places.slice(0, 1) : places;
}
