/**
 * Does something for each of a list, begun in its order and up to `max` at once: where a store is slow to answer, one after another
 * would take as long as all of its answers. The first error is thrown once what had begun has ended; nothing more is begun then.
 */
export async function eachAtOnce<T>(
  items: readonly T[],
  max: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const errors: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (const item of left) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
      if (errors.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, lane));
  if (errors.length > 0) throw errors[0];
}
