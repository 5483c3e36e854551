/**
 * A value as one text that tells apart all that sealing must keep: kinds, order, the sign of zero,
 * every bit of a float. Written without the codec, so that both can't be wrong in the same way.
 */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "number":
      return Object.is(value, -0) ? "number -0" : `number ${value}`;
    case "string":
      return `string ${[...unitsOf(value)].join(" ")}`;
    case "bigint":
      // Hexadecimal: decimal digits of millions of bits would take longer than all the rest.
      return `bigint ${value.toString(16)}`;
    case "object":
      return value === null ? "null" : describeObject(value);
    default:
      return `${typeof value} ${String(value)}`;
  }
}

function* unitsOf(text: string): Generator<string> {
  for (let i = 0; i < text.length; i++) yield text.charCodeAt(i).toString(16);
}

function describeObject(value: object): string {
  if (Array.isArray(value)) return `Array[${value.map(describeValue).join(", ")}]`;
  if (value instanceof Map) {
    const pairs = [...value].map(([k, v]) => `${describeValue(k)} => ${describeValue(v)}`);
    return `Map{${pairs.join(", ")}}`;
  }
  if (value instanceof Set) return `Set{${[...value].map(describeValue).join(", ")}}`;
  if (value instanceof Date) return `Date ${value.getTime()}`;
  if (value instanceof ArrayBuffer) return `ArrayBuffer ${hex(new Uint8Array(value))}`;
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return `${Buffer.isBuffer(value) ? "Uint8Array" : value.constructor.name} ${hex(bytes)}`;
  }
  const tag = Object.prototype.toString.call(value);
  if (tag.startsWith("[object Temporal.")) return `${tag} ${describeTemporal(value)}`;
  const members = Object.entries(value).map(([k, v]) => `${describeValue(k)}: ${describeValue(v)}`);
  return `Object{${members.join(", ")}}`;
}

function describeTemporal(value: object): string {
  const read = value as { [name: string]: unknown };
  if (read["nanoseconds"] !== undefined) {
    const units = ["years", "months", "weeks", "days", "hours", "minutes", "seconds"];
    const small = ["milliseconds", "microseconds", "nanoseconds"];
    return [...units, ...small].map((unit) => String(read[unit])).join(" ");
  }
  const text = value as { toString(options?: object): string };
  const zone = `${String(read["timeZoneId"])} ${String(read["epochNanoseconds"])}`;
  return `${text.toString({ calendarName: "always" })} ${zone}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
