// scrubjay in OpenClaw's memory slot: its tools instead of OpenClaw's own, and hooks that recall and capture.
import { existsSync, readFileSync } from "node:fs";
import { ask, Log, personal } from "./hooks.js";
import { Server } from "./server.js";

const VERBS = JSON.parse(readFileSync(new URL("./verbs.json", import.meta.url), "utf8"));

export default {
  id: "scrubjay",
  name: "scrubjay",
  description: "Memory that knows what, where and when",
  kind: "memory",
  register(api) {
    const { command = shipped(), log } = api.pluginConfig ?? {};
    if (!Array.isArray(command) || !command.length) {
      api.logger.error("scrubjay: plugins.entries.scrubjay.config.settings.command is missing; run `scrubjay install openclaw`");
      return;
    }
    const server = new Server(command);
    for (const verb of VERBS.tools) api.registerTool((ctx) => tool(api, server, verb, ctx), { names: [verb.name] });
    api.registerMemoryCapability({
      deterministicRecallToolName: "memory_search",
      promptBuilder: ({ availableTools }) => (availableTools.has("memory_search") ? [...VERBS.instructions, ""] : []),
    });
    api.on("gateway_stop", () => server.stop());
    if (!log) return;
    api.on("gateway_start", () => server.open());
    listen(api, command, new Log(log));
  },
};

/** How a package from OpenClaw's hub starts scrubjay: no installer has told it a path of this machine. */
function shipped() {
  const start = new URL("./start.json", import.meta.url);
  return existsSync(start) ? JSON.parse(readFileSync(start, "utf8")) : undefined;
}

function tool(api, server, verb, ctx) {
  if (switchedOff(api.runtime?.config?.current?.() ?? api.config, ctx.agentId)) return null;
  return {
    name: verb.name,
    label: verb.name.replace("memory_", "Memory "),
    description: verb.description,
    parameters: verb.parameters,
    async execute(_id, args, signal) {
      const { text, details } = await server.call(verb.name, args ?? {}, signal);
      return { content: [{ type: "text", text }], details };
    },
  };
}

/** OpenClaw's own switch for an agent's memory counts for whoever is in the slot. */
function switchedOff(config, agentId) {
  const own = config?.agents?.entries?.[agentId]?.memory?.search?.enabled;
  return (own ?? config?.memory?.search?.enabled) === false;
}

function listen(api, command, log) {
  const told = new Map(); // session -> whether its model has what it was told when it began
  const paused = new Set(); // sessions whose last question scrubjay did not answer because it is paused
  const off = (ctx) => switchedOff(api.runtime?.config?.current?.() ?? api.config, ctx.agentId);
  const about = (ctx, more) => ({ session: ctx.sessionId, folder: ctx.workspaceDir, ...more });

  const question = async (event, ctx, more) => {
    const answer = await ask(command, event, about(ctx, more));
    if (answer?.paused) paused.add(ctx.sessionId);
    else paused.delete(ctx.sessionId);
    return answer;
  };

  api.on("before_prompt_build", async (event, ctx) => {
    if (!personal(ctx) || off(ctx)) return;
    const asked = [];
    if (ctx.sessionId && !told.get(ctx.sessionId)) {
      // First this alone: the prompt's hook leaves out what it has told.
      const afresh = told.has(ctx.sessionId);
      told.set(ctx.sessionId, true);
      asked.push(await question("session-start", ctx, { afresh }));
    }
    const prompt = event.currentUserMessage ?? event.prompt;
    if (prompt?.trim()) asked.push(await question("prompt", ctx, { prompt }));
    for (const answer of asked) if (answer?.message) api.logger.info(answer.message);
    const answers = asked.filter((answer) => answer?.context);
    if (answers.length) return { prependContext: answers.map(({ context }) => context).join("\n\n") };
  });

  const take = async (event, messages, ctx) => {
    if (!personal(ctx) || !ctx.sessionId) return;
    const silent = off(ctx) || paused.has(ctx.sessionId);
    try {
      if (messages?.length) await (silent ? log.skip(messages, ctx) : log.append(messages, ctx));
      if (!off(ctx)) await question(event, ctx, { transcript: log.path(ctx) });
    } catch (error) {
      api.logger.warn(`scrubjay: this turn was not stored (${error.message})`);
    }
  };
  api.on("agent_end", (event, ctx) => take("stop", event.messages, ctx));
  api.on("before_compaction", (event, ctx) => take("pre-compact", event.messages, ctx));
  api.on("session_end", (_event, ctx) => take("session-end", null, ctx));
  const forget = (_event, ctx) => void (ctx.sessionId && told.set(ctx.sessionId, false));
  api.on("after_compaction", forget);
  api.on("before_reset", forget);
  api.on("before_agent_reply", (_event, ctx) => void ask(command, "heartbeat", about(ctx)), {
    eligibleTriggers: ["heartbeat"],
  });
}
