/** What can be reached from some of them, these included; each step taken once. */
export function reachable<T>(from: readonly T[], next: (one: T) => Iterable<T>): Set<T> {
  const reached = new Set(from);
  const queue = [...from];
  for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
    for (const to of next(one)) {
      if (reached.has(to)) continue;
      reached.add(to);
      queue.push(to);
    }
  }
  return reached;
}
