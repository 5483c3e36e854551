/**
 * A copy of a result for the journal (FLOW-47): what the node does to the object later changes nothing.
 *
 * Containers are copied; leaves and instances that only a sealer understands are kept as they are, since whether they can
 * be sealed is asked at the pause, with the path.
 */
export function copyOf(value: unknown): unknown {
  return typeof value === "object" && value !== null ? copyContainer(value, new Map()) : value;
}

function copyContainer(value: object, seen: Map<object, object>): object {
  const known = seen.get(value);
  if (known !== undefined) return known; // a cycle stays one, and is refused with its path when sealed
  const part = (inner: unknown): unknown =>
    typeof inner === "object" && inner !== null ? copyContainer(inner, seen) : inner;
  if (Array.isArray(value)) return copyArray(value, seen, part);
  if (value instanceof Date) return new Date(value);
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>();
    seen.set(value, copy);
    for (const [key, inner] of value) copy.set(part(key), part(inner));
    return copy;
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>();
    seen.set(value, copy);
    for (const inner of value) copy.add(part(inner));
    return copy;
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return structuredClone(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return copyPlain(value, seen, part);
}

function copyArray(
  value: unknown[],
  seen: Map<object, object>,
  part: (inner: unknown) => unknown,
): object {
  // Sparse and decorated arrays can't be sealed: kept, so that the refusal names them as they are.
  if (Object.keys(value).length !== value.length) return value;
  const copy: unknown[] = [];
  seen.set(value, copy);
  for (const inner of value) copy.push(part(inner));
  return copy;
}

function copyPlain(
  value: object,
  seen: Map<object, object>,
  part: (inner: unknown) => unknown,
): object {
  const descriptors = Object.getOwnPropertyDescriptors(value);
  const keys = Reflect.ownKeys(descriptors);
  const copy: object = Object.create(Object.getPrototypeOf(value));
  seen.set(value, copy);
  for (const key of keys) {
    const descriptor = Reflect.get(descriptors, key) as PropertyDescriptor;
    if ("value" in descriptor) descriptor.value = part(descriptor.value);
    Object.defineProperty(copy, key, descriptor);
  }
  return copy;
}
