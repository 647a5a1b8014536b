// Hooks: a turn in OpenClaw -> `scrubjay hook openclaw EVENT`, and its words -> a log that scrubjay reads.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export const DEADLINE_MS = 4_000; // scrubjay's own budgets are shorter; this is for a machine that stands still
const MOST_LOGS = 50; // whose ids are remembered; of any other they are read again

/** A person's own talk: not a group's, a sub-agent's, a timer's or a heartbeat. */
export function personal(ctx) {
  const key = ctx.sessionKey ?? "";
  return (!ctx.trigger || ctx.trigger === "user") && !/(^|:)(subagent|cron|hook|group|channel|room|acp):/.test(key);
}

/** Ask scrubjay; whatever goes wrong is no answer, and the turn goes on. */
export function ask(command, event, said, deadline = DEADLINE_MS) {
  return new Promise((resolve) => {
    const [path, ...args] = [...command, "hook", "openclaw", event];
    const done = (error, stdout) => {
      try {
        resolve(error || !stdout.trim() ? null : JSON.parse(stdout));
      } catch {
        resolve(null);
      }
    };
    const child = execFile(path, args, { timeout: deadline, killSignal: "SIGKILL", windowsHide: true }, done);
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(said));
  });
}

/** The log of OpenClaw's sessions, in the form that OpenClaw itself wrote before it kept them in a database. */
export class Log {
  #folder;
  #known = new Map(); // session -> ids of its file, in order
  #last = Promise.resolve();

  constructor(folder) {
    this.#folder = folder;
  }

  path(ctx) {
    const safe = (name) => String(name ?? "").replace(/[^A-Za-z0-9._-]/g, "_") || "unnamed";
    return join(this.#folder, safe(ctx.agentId ?? "main"), `${safe(ctx.sessionId)}.jsonl`);
  }

  /** Append what is new; one after the other, since two turns may end at once. */
  append(messages, ctx) {
    return this.#queue(messages, ctx, entry);
  }

  /** Note what is new as known, without its words: it was said while memory was off. */
  skip(messages, ctx) {
    return this.#queue(messages, ctx, skipped);
  }

  #queue(messages, ctx, form) {
    const next = this.#last.then(() => this.#append(messages, ctx, form));
    this.#last = next.catch(() => {});
    return next;
  }

  async #append(messages, ctx, form) {
    const path = this.path(ctx);
    const known = this.#known.get(path) ?? (await this.#read(path));
    const begun = known.size > 0;
    const said = messages.map((message) => ({ message, text: words(message) })).filter(({ text }) => text);
    let fresh = chained(said, null);
    const at = fresh.findLastIndex(({ id }) => known.has(id));
    if (at < 0 && begun) {
      // A compaction has left nothing that is known: then the turn that has just ended.
      const turn = said.findLastIndex(({ message }) => message.role === "user");
      fresh = chained(said.slice(Math.max(turn, 0)), "").filter(({ id }) => !known.has(id));
      if (fresh.length) fresh[0].parentId = [...known].pop();
    } else fresh = fresh.slice(at + 1);
    const lines = fresh.map(form);
    if (lines.length) {
      const header = { type: "session", version: 3, id: ctx.sessionId, timestamp: now(), cwd: ctx.workspaceDir };
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const all = begun ? lines : [header, ...lines];
      this.#known.delete(path); // read again, should only a part be written
      await appendLines(path, all.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
    for (const { id } of fresh) known.add(id);
    this.#known.delete(path);
    this.#known.set(path, known);
    if (this.#known.size > MOST_LOGS) this.#known.delete(this.#known.keys().next().value);
    return path;
  }

  async #read(path) {
    const known = new Set();
    const text = await readFile(path, "utf8").catch((error) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    const whole = text.slice(0, text.lastIndexOf("\n") + 1); // a torn last line is unknown
    for (const found of whole.matchAll(/^\{"type":"(?:message|custom)","id":"([0-9a-f]{16})"/gm)) known.add(found[1]);
    return known;
  }
}

async function appendLines(path, lines) {
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size) await file.read(last, 0, 1, size - 1);
    await file.appendFile(size && last.toString() !== "\n" ? `\n${lines}` : lines);
  } finally {
    await file.close();
  }
}

function words(message) {
  if (message?.role !== "user" && message?.role !== "assistant") return "";
  const { content } = message;
  if (typeof content === "string") return content.trim();
  const texts = Array.isArray(content) ? content.filter((block) => block?.type === "text") : [];
  return texts.map((block) => block.text ?? "").join("\n").trim();
}

/**
 * Give each its id and its parent. A person's words are known by what they follow, an answer by its time: OpenClaw gives the
 * same prompt another time when it reads it from its database.
 */
function chained(said, above) {
  let parentId = above;
  return said.map(({ message, text }) => {
    const mark = message.role === "user" ? parentId : (message.timestamp ?? parentId);
    const hash = createHash("sha256").update(JSON.stringify([message.role, mark, text]));
    const each = { id: hash.digest("hex").slice(0, 16), parentId, message, text };
    parentId = each.id;
    return each;
  });
}

function entry({ id, parentId, message, text }) {
  const { role, timestamp, provenance, model } = message;
  const time = Number.isFinite(timestamp) ? new Date(timestamp).toISOString() : now();
  const content = [{ type: "text", text }];
  return { type: "message", id, parentId, timestamp: time, message: { role, content, timestamp, provenance, model } };
}

function skipped({ id, parentId }) {
  return { type: "custom", id, parentId, timestamp: now(), customType: "scrubjay-skipped" };
}

function now() {
  return new Date().toISOString();
}
