import { plainText } from "./plain-text.ts";

/** How many columns a text takes on a terminal, by and large: wide signs take two, marks none. */
function widthOf(text: string): number {
  let width = 0;
  for (const sign of text) width += wide.test(sign) ? 2 : marks.test(sign) ? 0 : 1;
  return width;
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const marks = /\p{M}/u;

/** Lines of a table, the first the titles; what would act on a terminal is shown as its code. */
export function tableLines(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const all = [titles, ...rows.map((row) => row.map(plainText))];
  const widths = titles.map((_, at) => Math.max(...all.map((row) => widthOf(row[at] ?? ""))));
  return all.map((row) =>
    widths
      .map((width, at) => {
        const cell = row[at] ?? "";
        return cell + " ".repeat(width - widthOf(cell));
      })
      .join("  ")
      .trimEnd(),
  );
}
