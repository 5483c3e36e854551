/** A time of the store, as a person in any place reads it: UTC. */
export function shownTime(ms: number | undefined): string {
  if (ms === undefined) return "";
  return Number.isFinite(new Date(ms).getTime()) ? new Date(ms).toISOString().replace(".000Z", "Z") : String(ms); // prettier-ignore
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** How far away a time is, in its largest unit: `in 3 h`, `2 d ago`. */
export function shownDistance(ms: number | undefined, now: number): string {
  if (ms === undefined) return "";
  const away = Math.abs(ms - now);
  const [unit, size] = units.find(([, each]) => away >= each) ?? units[3];
  const text = `${Math.floor(away / size)} ${unit}`;
  return ms > now ? `in ${text}` : `${text} ago`;
}
