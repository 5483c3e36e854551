/** Which names can be reached from some of them, these included; each step taken once. */
export function reachable(
  from: readonly string[],
  next: (name: string) => readonly string[],
): Set<string> {
  const reached = new Set(from);
  const queue = [...from];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    for (const to of next(name)) {
      if (reached.has(to)) continue;
      reached.add(to);
      queue.push(to);
    }
  }
  return reached;
}
