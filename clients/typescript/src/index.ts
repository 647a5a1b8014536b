import createClient, { type Client, type ClientOptions, type Middleware } from "openapi-fetch";
import type { components, operations, paths } from "./schema.js";

type Schemas = components["schemas"];
type Query<Id extends keyof operations> = NonNullable<operations[Id]["parameters"]["query"]>;

export type SearchOptions = Omit<Schemas["Search"], "query">;
export type ThreadOptions = Omit<Schemas["Thread"], "query">;
export type ContextOptions = Omit<Schemas["ContextRequest"], "query">;
export type NewMemory = Schemas["MemoryToAdd"];
export type Changes = Schemas["Change"];
export type Verdict = Schemas["Feedback"]["verdict"];
export type Answer = Schemas["Answer"];
export type SearchResult = Schemas["SearchResult"];
export type StoredMemory = Schemas["StoredMemory"];

/** Every error of the server: what failed, the state now, and in `hint` what to do. */
export class ScrubjayError extends Error {
  override readonly name = "ScrubjayError";
  /** The server's class of error, `InputError` for example; empty if something before the server answered. */
  readonly type: string;
  readonly hint: string;

  constructor(
    readonly status: number,
    problem: Pick<Schemas["Problem"], "type" | "message" | "hint">,
    /** Seconds after which a retry makes sense, if the server named some. */
    readonly retryAfter?: number,
  ) {
    super(problem.message);
    this.type = problem.type;
    this.hint = problem.hint;
  }
}

const throwErrors: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return;
    const text = await response.text();
    const seconds = Number(response.headers.get("retry-after") || Number.NaN);
    throw new ScrubjayError(response.status, problemOf(text), Number.isNaN(seconds) ? undefined : seconds);
  },
};

function problemOf(text: string): Pick<Schemas["Problem"], "type" | "message" | "hint"> {
  try {
    const { error } = JSON.parse(text) as Schemas["Failure"];
    if (typeof error.message === "string") return error;
  } catch {
    // Not the server's own: the page of a proxy before it.
  }
  return { type: "", message: text.slice(0, 300), hint: "" };
}

export interface MemoryOptions extends Omit<ClientOptions, "baseUrl"> {
  /** Of the server, without `/v1`; by default that of `scrubjay serve` on this machine, http://127.0.0.1:8765. */
  url?: string;
  /** Made by `scrubjay token create NAME`; not needed on this machine while there is none. */
  token?: string | undefined;
}

/** The memories that a token may see. Each call throws a `ScrubjayError` if the server refuses it. */
export class Memory {
  /** Every route, typed: `memory.http.GET("/v1/concepts")`. */
  readonly http: Client<paths>;

  constructor({ url = "http://127.0.0.1:8765", token, ...options }: MemoryOptions = {}) {
    this.http = createClient<paths>({ ...options, baseUrl: url });
    this.http.use(throwErrors);
    if (token) {
      this.http.use({ onRequest: ({ request }) => request.headers.set("authorization", `Bearer ${token}`) });
    }
  }

  /** Returns the memories that answer a query, best first. */
  search(query: string, options: SearchOptions = {}) {
    return data(this.http.POST("/v1/search", { body: { query, ...options } }));
  }

  /** Returns the memories that a question is about as a timeline. */
  thread(query: string, options: ThreadOptions = {}) {
    return data(this.http.POST("/v1/thread", { body: { query, ...options } }));
  }

  /** Returns memories as one text to put into a prompt: about a query, or without one for a new session. */
  context(query?: string, options: ContextOptions = {}) {
    return data(this.http.POST("/v1/context", { body: { query: query ?? null, ...options } }));
  }

  /** Adds a memory; the same content again is the same memory, unless its date differs. */
  add(content: string, options: Omit<NewMemory, "content"> = {}) {
    return data(this.http.POST("/v1/memories", { body: { content, ...options } }));
  }

  /** Adds up to 1,000 memories together. */
  async addMany(memories: NewMemory[]) {
    return (await data(this.http.POST("/v1/memories/batch", { body: { memories } }))).added;
  }

  /** Returns whole memories by id, or a file's passages by path and lines. */
  get(wanted: string[] | Schemas["Get"]) {
    return data(this.http.POST("/v1/get", { body: Array.isArray(wanted) ? { ids: wanted } : wanted }));
  }

  /** Returns a page of memories; its `next` goes into `after`. */
  list(options: Query<"list_memories"> = {}) {
    return data(this.http.GET("/v1/memories", { params: { query: options } }));
  }

  /** Changes a memory in place. */
  update(id: string, changes: Changes) {
    return data(this.http.PATCH("/v1/memories/{id}", { params: { path: { id } }, body: changes }));
  }

  /** Hides memories from searches; `restore` brings them back. */
  archive(ids: string[]) {
    return data(this.http.POST("/v1/archive", { body: { ids } }));
  }

  restore(ids: string[]) {
    return data(this.http.POST("/v1/restore", { body: { ids } }));
  }

  /** Deletes memories permanently; `still` of the answer names files that contain their text. */
  forget(ids: string[]) {
    return data(this.http.POST("/v1/forget", { body: { ids } }));
  }

  /** Deletes everything that the token's user ever stored; only with `yes`. */
  forgetEverything(confirmed: Schemas["Confirmation"]) {
    return data(this.http.POST("/v1/forget/everything", { body: confirmed }));
  }

  /** Records that memories were used, useful or wrong. */
  feedback(ids: string[], verdict: Verdict) {
    return data(this.http.POST("/v1/feedback", { body: { ids, verdict } }));
  }
}

async function data<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T; // an error was thrown
}
