/** Puts the sample files into the README, each under its mark. `node test/long/fill-readme.ts` */
import { readFileSync, writeFileSync } from "node:fs";

const readme = new URL("../../README.md", import.meta.url);
const text = readFileSync(readme, "utf8").replaceAll(
  /<!-- sample: ([a-z-]+) -->\n(?:\n```ts\n[\s\S]*?```\n)?/g,
  (_, name: string) => {
    const source = readFileSync(new URL(`../samples/${name}.ts`, import.meta.url), "utf8");
    return `<!-- sample: ${name} -->\n\n\`\`\`ts\n${source}\`\`\`\n`;
  },
);
writeFileSync(readme, text);
