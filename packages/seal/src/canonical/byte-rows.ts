import {
  getNames,
  getSymbols,
  hostUtil,
  lengthOf,
  slotGetter,
  typedArrayPrototype,
} from "../platform.ts";
import { base64Length, fromBase64, toBase64 } from "./base64.ts";
import type { Row, Writer } from "./row.ts";

type View = Uint8Array | DataView;

const viewBuffer = slotGetter(typedArrayPrototype, "buffer")!;
const viewOffset = slotGetter(typedArrayPrototype, "byteOffset")!;
const viewLength = slotGetter(typedArrayPrototype, "byteLength")!;
const dataBuffer = slotGetter(DataView.prototype, "buffer")!;
const dataOffset = slotGetter(DataView.prototype, "byteOffset")!;
const dataLength = slotGetter(DataView.prototype, "byteLength")!;
const bufferLength = slotGetter(ArrayBuffer.prototype, "byteLength")!;
const bufferResizable = slotGetter(ArrayBuffer.prototype, "resizable");
const bufferDetached = slotGetter(ArrayBuffer.prototype, "detached");
const bytesClass = Uint8Array;

/**
 * Element kinds by tag. Values are kept as their bytes, lowest first, which is how every host
 * that this package loads on holds them; on another the known answer of first use fails.
 */
const KINDS: readonly (readonly [tag: string, className: string])[] = [
  ["$bytes", "Uint8Array"],
  ["$uint8c", "Uint8ClampedArray"],
  ["$int8", "Int8Array"],
  ["$int16", "Int16Array"],
  ["$uint16", "Uint16Array"],
  ["$int32", "Int32Array"],
  ["$uint32", "Uint32Array"],
  ["$float16", "Float16Array"],
  ["$float32", "Float32Array"],
  ["$float64", "Float64Array"],
  ["$bigint64", "BigInt64Array"],
  ["$biguint64", "BigUint64Array"],
  ["$dataview", "DataView"],
];

type ViewClass = (new (buffer: ArrayBuffer) => View) & { readonly BYTES_PER_ELEMENT?: number };

/** SEAL-11. Kinds that the runtime doesn't have (`Float16Array` on older ones) have no row. */
export const byteRows: readonly Row[] = KINDS.flatMap(([tag, className]) => {
  const viewClass = (globalThis as { [name: string]: unknown })[className] as ViewClass | undefined;
  return viewClass === undefined ? [] : [viewRow(tag, className, viewClass)];
});

function viewRow(tag: string, className: string, viewClass: ViewClass): Row {
  const elementBytes = viewClass.BYTES_PER_ELEMENT ?? 1;
  const row = (read: (value: object, writer: Writer) => Uint8Array): Row =>
    byteRow(tag, className, elementBytes, read, (buffer) => new viewClass(buffer));
  if (className === "DataView") {
    return row((value, writer) => {
      const bytes = windowOf(value, writer, dataBuffer, dataOffset, dataLength);
      writer.bare(value, "a DataView");
      return bytes;
    });
  }
  return row((value, writer) => {
    const bytes = windowOf(value, writer, viewBuffer, viewOffset, viewLength);
    bareView(value, bytes, viewClass, lengthOf(bytes) / elementBytes, writer);
    return bytes;
  });
}

/** A row of a class whose instances are bytes: `read` gives those of a value, or refuses it. */
function byteRow(
  tag: string,
  className: string,
  elementBytes: number,
  read: (value: object, writer: Writer) => Uint8Array,
  build: (buffer: ArrayBuffer) => object,
): Row {
  return {
    tag,
    classes: [className],
    encode(value, writer) {
      const bytes = read(value, writer);
      writer.spend(base64Length(lengthOf(bytes)) + 2);
      return toBase64(bytes);
    },
    check(payload, checker) {
      const bytes = fromBase64(checker.text(payload));
      if (bytes === undefined) checker.refuse("not base64 in its one spelling");
      else if (lengthOf(bytes) % elementBytes !== 0)
        checker.refuse("not a whole number of elements");
    },
    // A fresh buffer of exactly the bytes: never a pool, never a neighbour's.
    build: (payload) =>
      build(viewBuffer(fromBase64(payload as string) as Uint8Array) as ArrayBuffer),
  };
}

/** SEAL-11: an `ArrayBuffer` of its own. */
export const bufferRow: Row = byteRow(
  "$buffer",
  "ArrayBuffer",
  1,
  (value, writer) => {
    const bytes = new bytesClass(plainBuffer(value, writer));
    writer.bare(value, "an ArrayBuffer");
    return bytes;
  },
  (buffer) => buffer,
);

function windowOf(
  value: object,
  writer: Writer,
  buffer: (view: object) => unknown,
  offset: (view: object) => unknown,
  length: (view: object) => unknown,
): Uint8Array {
  // The buffer first: a detached one has lengths that lie, or throw.
  const whole = plainBuffer(buffer(value) as object, writer);
  return new bytesClass(whole, offset(value) as number, length(value) as number);
}

/** Only memory that nobody else can write and nothing can resize is sealed as of one instant. */
function plainBuffer(buffer: object, writer: Writer): ArrayBuffer {
  const advice = "Copy the bytes into a Uint8Array of their own first";
  try {
    bufferLength(buffer);
  } catch {
    writer.refuse("bytes in shared memory", advice);
  }
  if (bufferResizable?.(buffer) === true) writer.refuse("bytes in a resizable buffer", advice);
  if (bufferDetached?.(buffer) === true) writer.refuse("bytes of a detached buffer", advice);
  return buffer as ArrayBuffer;
}

const deepEqual = hostUtil()?.isDeepStrictEqual ?? (() => false);
/** Above this many elements, listing every index to find a stray property would cost more than sealing. */
const LISTED_ELEMENTS = 1024;

/** Refuses own properties besides the elements, which the text would lose. */
function bareView(
  value: object,
  bytes: Uint8Array,
  viewClass: ViewClass,
  length: number,
  writer: Writer,
): void {
  const symbols = getSymbols(value).length;
  if (symbols === 0 && length > LISTED_ELEMENTS && sameAsTwin(value, bytes, viewClass, length)) {
    return;
  }
  if (symbols > 0 || getNames(value).length !== length) {
    const advice = "Keep the property beside the bytes, in an object";
    writer.refuse("a typed array with extra properties", advice);
  }
}

/**
 * Node compares own enumerable properties too, without listing the elements; the twin has none. A
 * property hidden from enumeration on a long array is the one thing that is lost unnoticed.
 */
function sameAsTwin(
  value: object,
  bytes: Uint8Array,
  viewClass: ViewClass,
  length: number,
): boolean {
  const twin = new (viewClass as new (b: unknown, o: number, l: number) => View)(
    bytes.buffer,
    bytes.byteOffset,
    length,
  );
  Object.setPrototypeOf(twin, Object.getPrototypeOf(value) as object);
  return deepEqual(value, twin);
}
