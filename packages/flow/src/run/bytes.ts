/**
 * Copies of bytes, whatever views them: elements alone are in a copy, so what has anything else beside them is not copied.
 */
interface HostUtil {
  readonly isDeepStrictEqual?: (one: unknown, other: unknown) => boolean;
}

/** Node's own comparison looks at names beside the elements without listing these. Elsewhere they are listed. */
const deepEqual = (
  globalThis as {
    process?: { getBuiltinModule?: (id: string) => HostUtil | undefined };
  }
).process?.getBuiltinModule?.("node:util")?.isDeepStrictEqual;

/** The names of a longer array's elements would cost more than all the rest of its journey. */
const listedElementsMax = 1_024;

type View = ArrayBufferView & { readonly length: number };
type ViewClass = new (buffer: ArrayBufferLike, offset: number, length: number) => View;

/** A copy of a view's own window, or of a buffer; `undefined` where a copy would not be the same. */
export function copyOfBytes(value: ArrayBufferView | ArrayBuffer): object | undefined {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  if (!(buffer instanceof ArrayBuffer)) return undefined; // shared
  const { resizable, detached } = buffer as { resizable?: boolean; detached?: boolean };
  if (resizable === true || detached === true || hasMore(value)) return undefined;
  if (value instanceof ArrayBuffer) return value.slice(0);
  // Never the buffer around it: a pooled one is shared with strangers.
  if (!(value instanceof Uint8Array)) return structuredClone(value);
  return Uint8Array.from(value);
}

/** Whether bytes have properties of their own beside their elements. One hidden from enumeration on a long array is not seen. */
function hasMore(value: ArrayBufferView | ArrayBuffer): boolean {
  const elements = "length" in value ? (value as View).length : 0;
  if (elements <= listedElementsMax || deepEqual === undefined)
    return Reflect.ownKeys(value).length !== elements;
  return Object.getOwnPropertySymbols(value).length > 0 || !isBareView(value as View, elements);
}

/** Compared with a view of the same bytes that has nothing of its own. */
function isBareView(value: View, elements: number): boolean {
  const viewClass = Reflect.get(globalThis, kindOf(value)) as ViewClass | undefined;
  if (viewClass === undefined) return Reflect.ownKeys(value).length === elements;
  const twin = new viewClass(value.buffer, value.byteOffset, elements);
  Object.setPrototypeOf(twin, Object.getPrototypeOf(value) as object);
  return deepEqual!(value, twin);
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const kind = Object.getOwnPropertyDescriptor(typedArray, Symbol.toStringTag)!;

/** The kind of a typed array, by its slot. */
function kindOf(value: View): string {
  return kind.get!.call(value) as string;
}
