import type { PagePlace } from "./store.ts";

/** Places of rows in an order, kept sorted: by value, ties by id. */
export class SortedPlaces {
  readonly #places: PagePlace[] = [];

  add(place: PagePlace): void {
    this.#places.splice(this.#index(place), 0, place);
  }

  remove(place: PagePlace): void {
    this.#places.splice(this.#index(place), 1);
  }

  /** Those past a place, ascending; all without one. */
  *after(place: PagePlace | undefined): Generator<PagePlace> {
    let at = 0;
    if (place !== undefined) {
      at = this.#index(place);
      if (at < this.#places.length && compare(this.#places[at]!, place) === 0) at += 1;
    }
    for (; at < this.#places.length; at += 1) yield this.#places[at]!;
  }

  /** Those before a place, descending; all without one. */
  *before(place: PagePlace | undefined): Generator<PagePlace> {
    let at = (place === undefined ? this.#places.length : this.#index(place)) - 1;
    for (; at >= 0; at -= 1) yield this.#places[at]!;
  }

  /** Where a place is, or would be. */
  #index(place: PagePlace): number {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.#places[middle]!, place) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function compare(a: PagePlace, b: PagePlace): number {
  if (a.value !== b.value) return a.value - b.value;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
