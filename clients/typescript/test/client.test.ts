// Against the server at SCRUBJAY_URL, with tokens that may read and write (WRITER) and only read (READER).
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Memory, ScrubjayError, type SearchResult } from "../src/index.js";

const url = process.env["SCRUBJAY_URL"];
assert.ok(url, "SCRUBJAY_URL names the server");
const memory = new Memory({ url, token: process.env["WRITER"] });

async function refused(call: Promise<unknown>): Promise<ScrubjayError> {
  const error = await call.then(
    () => assert.fail("nothing was refused"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ScrubjayError, String(error));
  return error;
}

test("a memory is added, found, read, changed, rated and forgotten", async () => {
  const added = await memory.add("The launch moved to 3 May.", { tags: ["launch"] });
  assert.equal(added.existed, false);
  assert.equal((await memory.add("The launch moved to 3 May.")).existed, true);

  const answer = await memory.search("when is the launch?", { limit: 3, tags: ["launch"] });
  const best: SearchResult | undefined = answer.results[0];
  assert.equal(best?.id, added.id);
  assert.equal(best?.snippet, "The launch moved to 3 May.");

  await memory.update(added.id, { content: "The launch moved to 5 May." });
  const { memories, unknown } = await memory.get([added.id, "obs_ffffffffffffffff"]);
  assert.equal(memories[0]?.content, "The launch moved to 5 May.");
  assert.deepEqual(unknown, ["obs_ffffffffffffffff"]);

  assert.deepEqual((await memory.feedback([added.id], "useful")).ids, [added.id]);
  const forgotten = await memory.forget([added.id]);
  assert.ok(forgotten.ids.includes(added.id));
  assert.deepEqual((await memory.get([added.id])).unknown, [added.id]);

  const again = await memory.add("The launch is on 7 May.");
  await assert.rejects(memory.forgetEverything({ yes: false }), /Nothing was forgotten/);
  assert.deepEqual((await memory.forgetEverything({ yes: true })).ids, [again.id]);
});

test("many memories are added together, listed by page, archived and restored", async () => {
  const added = await memory.addMany([{ content: "Ann is on call." }, { content: "Bo cooks.", tags: ["crew"] }]);
  assert.equal(added.length, 2);
  const listed: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page = await memory.list({ after, limit: 1 });
    listed.push(...page.memories.map((each) => each.id));
    after = page.next;
  }
  assert.deepEqual(listed.sort(), added.map((each) => each.id).sort());
  const [ann] = added;
  assert.ok(ann);
  await memory.archive([ann.id]);
  assert.equal((await memory.list()).memories.length, 1);
  await memory.restore([ann.id]);
  assert.match((await memory.context("who is on call?")).text, /Ann is on call\./);
  assert.ok((await memory.thread("who is on call?")).memories.some((each) => each.id === ann.id));
});

test("every other route is typed, too", async () => {
  const { data } = await memory.http.POST("/v1/concepts", { body: { name: "Volvo", aliases: ["the engine"] } });
  assert.ok(data);
  const listed = await memory.http.GET("/v1/concepts");
  assert.ok(listed.data?.concepts.some((each) => each.name === "Volvo"));
});

test("an error has its status, its type and a hint", async () => {
  const unknown = await refused(memory.update("obs_ffffffffffffffff", { content: "none" }));
  assert.deepEqual([unknown.status, unknown.type], [404, "NotFoundError"]);
  assert.ok(unknown.message && unknown.hint);
  // @ts-expect-error: no such verdict
  assert.equal((await refused(memory.feedback([], "great"))).status, 422);
});

test("a token gives the rights that it has", async () => {
  const reader = new Memory({ url, token: process.env["READER"] });
  await reader.search("who is on call?");
  const error = await refused(reader.add("none"));
  assert.equal(error.status, 403);
  assert.match(error.message, /write/);
  assert.equal((await refused(new Memory({ url }).search("who is on call?"))).status, 401);
});

let proxy: Server;
before(async () => {
  proxy = createServer((_, response) => {
    response.writeHead(503, { "retry-after": "7", "content-type": "text/html" }).end("<h1>Busy</h1>");
  });
  await new Promise<void>((ready) => proxy.listen(0, "127.0.0.1", ready));
});
after(() => proxy.close());

test("an answer that is not the server's is an error with its text", async () => {
  const { port } = proxy.address() as AddressInfo;
  const error = await refused(new Memory({ url: `http://127.0.0.1:${port}` }).search("x"));
  assert.deepEqual([error.status, error.type, error.message, error.retryAfter], [503, "", "<h1>Busy</h1>", 7]);
});
