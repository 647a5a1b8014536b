// Server: one `scrubjay mcp` for all tool calls of a Gateway, started by the first call and again when it has died.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export const DEADLINE_MS = 20_000; // a cold start loads the models; later calls take milliseconds
const PROTOCOL = "2025-06-18";
const KEPT_OF_LOG = 2_000; // characters of standard error that an error may cite

export class Server {
  #command;
  #deadline;
  #child = null;

  constructor(command, deadline = DEADLINE_MS) {
    this.#command = command;
    this.#deadline = deadline;
  }

  /** Call a tool and return its answer; what fails, and a call that is too slow, is thrown with what helps. */
  async call(name, args, signal) {
    signal?.throwIfAborted();
    const child = this.#child ?? this.#start();
    await child.ready;
    const result = await child.request("tools/call", { name, arguments: args }, this.#deadline, signal);
    const text = (result.content ?? []).map((block) => block.text ?? "").join("\n");
    if (result.isError) throw new Error(told(result.structuredContent?.error, text));
    return { text, details: result.structuredContent ?? {} };
  }

  /** Start what the first call would start: while it lives, hooks are answered by it in a few milliseconds. */
  open() {
    if (!this.#child) this.#start().ready.catch(() => {}); // the first call says what is wrong
  }

  stop() {
    this.#child?.end();
    this.#child = null;
  }

  #start() {
    const child = new Child(this.#command, () => {
      if (this.#child === child) this.#child = null;
    });
    this.#child = child;
    child.ready = child
      .request(
        "initialize",
        { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "openclaw", version: "1" } },
        this.#deadline,
      )
      .then(() => child.send({ method: "notifications/initialized" }));
    return child;
  }
}

class Child {
  #process;
  #waiting = new Map();
  #next = 1;
  #log = "";

  constructor(command, gone) {
    this.#process = spawn(command[0], [...command.slice(1), "mcp"], { stdio: "pipe", windowsHide: true });
    const over = (why) => {
      gone();
      const cited = this.#log.trim().split("\n").pop();
      this.#fail(new Error(`scrubjay ${why}${cited ? `: ${cited}` : ""}. Run \`scrubjay install openclaw\` again.`));
    };
    this.#process.on("error", (error) => over(`did not start (${command[0]}: ${error.code ?? error.message})`));
    this.#process.on("exit", (code, killed) => over(`ended (${killed ?? `exit code ${code}`})`));
    this.#process.stdin.on("error", () => {}); // its end is told by "exit"
    this.#process.stderr.setEncoding("utf8").on("data", (text) => {
      this.#log = (this.#log + text).slice(-KEPT_OF_LOG);
    });
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#read(line));
    this.#hold(false);
  }

  send(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method, params, deadline, signal) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const give_up = (error) => {
        this.#done(id);
        this.send({ method: "notifications/cancelled", params: { requestId: id } });
        reject(error);
      };
      const aborted = () => give_up(signal.reason ?? new Error("cancelled"));
      const timer = setTimeout(
        () => give_up(new Error(`scrubjay did not answer within ${deadline / 1000} s. Try once more, or go on without.`)),
        deadline,
      );
      signal?.addEventListener("abort", aborted, { once: true });
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
      };
      this.#waiting.set(id, { resolve, reject, settle });
      this.#hold(true);
      this.send({ id, method, params });
    });
  }

  end() {
    this.#process.stdin.end(); // the server ends with its standard input
  }

  #read(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (!waiting || message.method) return;
    this.#done(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  #done(id) {
    this.#waiting.get(id)?.settle();
    this.#waiting.delete(id);
    if (!this.#waiting.size) this.#hold(false);
  }

  #fail(error) {
    for (const [id, waiting] of [...this.#waiting]) {
      this.#done(id);
      waiting.reject(error);
    }
  }

  /** A command of OpenClaw that is done must be able to end: only a call under way keeps it. */
  #hold(on) {
    for (const each of [this.#process, this.#process.stdin, this.#process.stdout, this.#process.stderr]) {
      if (on) each?.ref?.();
      else each?.unref?.();
    }
  }
}

/** What an error of scrubjay says to a model: its message and the way out. */
function told(error, text) {
  if (!error) return text || "scrubjay failed without saying why";
  return error.hint ? `${error.message} (${error.hint})` : error.message;
}
