// What OpenCode does with a plugin, in small: load it, then play steps and tell what came of each, as JSON.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const [, , path] = process.argv;
// OpenCode reads a plugin as a module whatever stands beside it.
const module = await import(`data:text/javascript,${encodeURIComponent(await readFile(path, "utf8"))}`);
const shown = [];
const client = { tui: { showToast: async ({ body }) => void shown.push(body.message) } };
for (const [name, make] of Object.entries(module)) {
  // Every export is called as a plugin: there must be no other.
  const hooks = await make({ client, directory: "/work" });
  for await (const line of createInterface({ input: process.stdin })) {
    const { hook, input = {}, output = {} } = JSON.parse(line);
    await hooks[hook](input, output);
    process.stdout.write(`${JSON.stringify({ name, output, shown: shown.splice(0) })}\n`);
  }
}
