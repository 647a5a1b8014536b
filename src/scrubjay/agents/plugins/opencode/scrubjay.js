// scrubjay in OpenCode: what a session's events ask of it. Written by `scrubjay install opencode`, taken out by uninstall.
import { execFile, spawn } from "node:child_process";

const COMMAND = ["scrubjay"];
const DEADLINE_MS = 4_000; // scrubjay's own budgets are shorter; this is for a machine that stands still

export const Scrubjay = async ({ client, directory }) => {
  const told = new Map(); // session -> whether its model has what it was told when it began
  const children = new Set(); // sessions of sub-agents, which are no talk of the person

  const show = (message) =>
    client?.tui?.showToast?.({ body: { message, variant: "info" } })?.catch?.(() => {}) ?? Promise.resolve();

  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID;
      if (children.has(session)) return;
      const about = { session, folder: directory };
      const asked = [];
      if (!told.get(session)) {
        // First this alone: the prompt's hook leaves out what it has told.
        const afresh = told.has(session);
        told.set(session, true);
        asked.push(await ask("session-start", { ...about, afresh }));
      }
      const prompt = words(output.parts);
      if (prompt) asked.push(await ask("prompt", { ...about, prompt }));
      const answers = asked.filter((answer) => answer?.context || answer?.message);
      for (const [at, { context, message }] of answers.entries()) {
        if (context) output.parts.push(part(context, input, output, at));
        if (message) void show(message);
      }
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      if (!children.has(sessionID)) tell("pre-compact", { session: sessionID, folder: directory });
    },
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {};
      if (event.type === "session.created" && info?.parentID) children.add(info.id);
      if (event.type === "session.deleted") told.delete(info?.id);
      if (!sessionID || children.has(sessionID)) return;
      if (event.type === "session.compacted") told.set(sessionID, false);
      if (event.type === "session.idle") tell("stop", { session: sessionID, folder: directory });
    },
  };
};

/** What the person typed: not what a program put beside it, a file's text or a tool's. */
function words(parts) {
  const typed = parts.filter((each) => each.type === "text" && !each.synthetic && !each.ignored);
  return typed.map((each) => each.text).join("\n").trim();
}

/** A part that the model reads and OpenCode does not show; its id sorts behind those of the message. */
function part(text, input, output, at) {
  const messageID = output.message?.id ?? input.messageID;
  const last = output.parts.at(-1)?.id ?? "prt_";
  return { id: `${last}~${at}`, sessionID: input.sessionID, messageID, type: "text", text, synthetic: true };
}

/** Ask scrubjay; whatever goes wrong is no answer, and the turn goes on. */
function ask(event, said) {
  return new Promise((resolve) => {
    const [path, ...args] = [...COMMAND, "hook", "opencode", event];
    const done = (error, stdout) => {
      try {
        resolve(error || !stdout.trim() ? null : JSON.parse(stdout));
      } catch {
        resolve(null);
      }
    };
    const child = execFile(path, args, { timeout: DEADLINE_MS, killSignal: "SIGKILL", windowsHide: true }, done);
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(said));
  });
}

/** Tell scrubjay, which outlives this process: a single run of OpenCode ends with its answer. */
function tell(event, said) {
  const [path, ...args] = [...COMMAND, "hook", "opencode", event];
  const options = { detached: true, stdio: ["pipe", "ignore", "ignore"], windowsHide: true };
  const child = spawn(path, args, options);
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(said));
  child.unref();
}
