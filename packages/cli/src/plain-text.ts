/**
 * Texts from a store on a terminal. Whoever named a tool, a node or a note could else clear the screen, hide a line or turn
 * one round: what a terminal would act on is shown as its code.
 */
const acting = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;

export function plainText(text: string): string {
  return text.replace(acting, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`);
}

/** The same for a text of several lines. */
export function plainLines(text: string): readonly string[] {
  return text.split("\n").map(plainText);
}
