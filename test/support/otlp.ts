/** A span as a collector receives it. */
export interface ExportedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  traceState: string;
  name: string;
  startMs: number;
  endMs: number;
  isFailed: boolean;
  attributes: Record<string, string | number>;
  /** Of the process that made it. */
  resource: Record<string, string | number>;
}

/** A field of a protobuf message: its number, and its bytes or its number. */
type Field = [number: number, value: Buffer | bigint];

/** Reads the fields of a message, whatever they mean. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(message[at++] ?? 0);
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [number, type] = [tag >> 3, tag & 7];
    if (type === 0) yield [number, varint()];
    else if (type === 1) {
      yield [number, message.readBigUInt64LE(at)];
      at += 8;
    } else if (type === 5) {
      yield [number, BigInt(message.readUInt32LE(at))];
      at += 4;
    } else if (type === 2) {
      const length = Number(varint());
      yield [number, message.subarray(at, at + length)];
      at += length;
    } else throw new Error(`wire type ${type}`);
  }
}

const all = (message: Buffer, number: number): Buffer[] =>
  [...fieldsOf(message)].flatMap(([found, value]) =>
    found === number && Buffer.isBuffer(value) ? [value] : [],
  );
const one = (message: Buffer, number: number): Buffer => all(message, number)[0] ?? Buffer.alloc(0);
const numberIn = (message: Buffer, number: number): bigint =>
  [...fieldsOf(message)].find(([found]) => found === number)?.[1] as bigint;

/** Reads the value of an attribute: a text, an integer or a double. */
function attributeOf(any: Buffer): string | number {
  const [number, value] = [...fieldsOf(any)][0] ?? [];
  if (Buffer.isBuffer(value)) return value.toString("utf8");
  if (number !== 4) return Number(value);
  const bits = Buffer.alloc(8);
  bits.writeBigUInt64LE(value as bigint);
  return bits.readDoubleLE();
}

const attributesIn = (pairs: Buffer[]): Record<string, string | number> =>
  Object.fromEntries(pairs.map(pair => [one(pair, 1).toString("utf8"), attributeOf(one(pair, 2))]));

const msOf = (nanoseconds: bigint) => Number(nanoseconds / 1_000_000n);

/** Decodes an `ExportTraceServiceRequest` (opentelemetry-proto, trace/v1). */
export function decodeExport(body: Buffer): ExportedSpan[] {
  return all(body, 1).flatMap(ofResource => {
    const resource = attributesIn(all(one(ofResource, 1), 1));
    return all(ofResource, 2)
      .flatMap(ofScope => all(ofScope, 2))
      .map(span => ({
        traceId: one(span, 1).toString("hex"),
        spanId: one(span, 2).toString("hex"),
        traceState: one(span, 3).toString("utf8"),
        parentSpanId: one(span, 4).toString("hex"),
        name: one(span, 5).toString("utf8"),
        startMs: msOf(numberIn(span, 7)),
        endMs: msOf(numberIn(span, 8)),
        attributes: attributesIn(all(span, 9)),
        isFailed: [...fieldsOf(one(span, 15))].some(([number, value]) => number === 3 && value === 2n),
        resource,
      }));
  });
}
