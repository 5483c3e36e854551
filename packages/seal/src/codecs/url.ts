import { defineCodec, type Codec } from "../models/codec.ts";
import { slotGetter } from "../platform.ts";

const hrefOf = slotGetter(URL.prototype, "href") as (url: object) => string;

/** `URL`, kept as its `href`. */
export const urlCodec: Codec<URL, string> = defineCodec({
  type: "url",
  is: (value): value is URL =>
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === URL.prototype,
  encode: hrefOf,
  decode(href) {
    const url = new URL(href);
    if (hrefOf(url) !== href) throw new TypeError("not the spelling of a URL's href");
    return url;
  },
});
