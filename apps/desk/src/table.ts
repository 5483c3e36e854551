/** A column of a table: where its texts stand. */
export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
}

/** Lines of a table, two spaces in; the first is the titles. For texts of plain width: ids, numbers, fixed words. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string[] {
  const titles = columns.map(({ title }) => title);
  const widths = columns.map((_, at) =>
    Math.max(...[titles, ...rows].map((row) => (row[at] ?? "").length)),
  );
  return [titles, ...rows].map((row) => {
    const cells = columns.map(({ align }, at) => {
      const text = row[at] ?? "";
      return align === "right" ? text.padStart(widths[at]!) : text.padEnd(widths[at]!);
    });
    return `  ${cells.join("  ")}`.trimEnd();
  });
}
