import type { Screen } from "./screen.ts";

const barWidth = 30;

/** A bar that grows on a terminal; in a pipe, a line at each quarter. */
export class Progress {
  readonly #screen: Screen;
  readonly #what: string;
  #quarter = 0;

  constructor(screen: Screen, what: string) {
    this.#screen = screen;
    this.#what = what;
  }

  show(done: number, all: number): void {
    const counted = `${String(done).padStart(String(all).length)} of ${all} ${this.#what}`;
    if (this.#screen.live) {
      const full = Math.round((done / all) * barWidth);
      this.#screen.draw(`  ${"█".repeat(full)}${"░".repeat(barWidth - full)}  ${counted}`);
      if (done === all) this.#screen.keep();
      return;
    }
    const quarter = Math.floor((done / all) * 4);
    if (quarter > this.#quarter) this.#screen.line(`  ${counted}`);
    this.#quarter = Math.max(quarter, this.#quarter);
  }
}
