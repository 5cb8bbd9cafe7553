import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Starts a stand-in for Anthropic's API. It answers every message with `ok` and keeps the bodies of the client's
 * requests in `requests`.
 */
export async function standIn() {
  const requests = [];
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding("utf8").toArray()).join("");
    if (new URL(request.url, "http://localhost").pathname !== "/v1/messages") {
      const error = { type: "error", error: { type: "not_found_error", message: "no such path" } };
      response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify(error));
      return;
    }
    requests.push(body);
    const { model, stream } = JSON.parse(body);
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model, stop_sequence: null, usage };
    if (!stream) {
      const content = [{ type: "text", text: "ok" }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...message, content, stop_reason: "end_turn" }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
