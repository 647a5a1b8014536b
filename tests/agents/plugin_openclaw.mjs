// What OpenClaw does with a plugin, in small: register it, then play steps and tell what came back, as JSON.
import { createInterface } from "node:readline";

const [, , folder, given] = process.argv;
const { default: plugin } = await import(`${folder}/index.js`);
const tools = new Map();
const hooks = new Map();
const logged = [];
let capability;
const logger = Object.fromEntries(
  ["info", "warn", "error"].map((level) => [level, (text) => logged.push(`${level}: ${text}`)]),
);
const { config, pluginConfig } = JSON.parse(given);
plugin.register({
  pluginConfig,
  config,
  logger,
  registerTool: (factory, { names }) => tools.set(names[0], factory),
  registerMemoryCapability: (found) => (capability = found),
  on: (name, handler, options) => hooks.set(name, { handler, options }),
});
const steps = {
  tools: ({ ctx = {} }) => [...tools].map(([name, make]) => [name, make(ctx)]).filter(([, tool]) => tool),
  prompt: ({ available }) => capability.promptBuilder({ availableTools: new Set(available) }),
  call: async ({ name, args, abort_ms }) => {
    const signal = abort_ms === undefined ? undefined : AbortSignal.timeout(abort_ms);
    try {
      return await tools.get(name)({}).execute("1", args, signal);
    } catch (error) {
      return { thrown: error.message };
    }
  },
  hook: async ({ name, event = {}, ctx = {} }) => (await hooks.get(name)?.handler(event, ctx)) ?? null,
  hooks: () => [...hooks].map(([name, { options }]) => [name, options ?? null]),
  logged: () => logged.splice(0),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { step, ...args } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify((await steps[step](args)) ?? null)}\n`);
}
